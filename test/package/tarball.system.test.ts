import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { describe, it } from 'node:test';
import { listDocs, readDocument } from '../support/documents.ts';
import { root } from '../support/sources.ts';
import { entries, moduleOf } from './entries.ts';
import { pack } from './pack.ts';

const { size, files } = await pack('--dry-run');
const paths = files.map(({ path }) => path);

/** Returns the files and Node.js modules that a file in `dist` imports. */
async function importsOf(path: string): Promise<string[]> {
  const code = (await readDocument(path)).replace(/\/\*[\s\S]*?\*\//g, '');
  const imports = code.matchAll(/(?:\bfrom\s+|\bimport(?:\s+|\s*\(\s*))['"]([^'"]+)['"]/g);
  return Array.from(imports, ([, specifier = '']) => {
    if (!specifier.startsWith('.')) return specifier;
    const imported = join(dirname(path), specifier);
    // Declarations import files with the extension .ts. TypeScript reads the .d.ts files instead.
    return path.endsWith('.d.ts') ? imported.replace(/\.[jt]s$/, '.d.ts') : imported;
  });
}

/** Returns the given files, and everything that they import directly or indirectly. */
async function reachedFrom(files: readonly string[]): Promise<string[]> {
  const reached = new Set(files);
  for (const path of reached) {
    if (!isBuiltin(path)) for (const imported of await importsOf(path)) reached.add(imported);
  }
  return [...reached];
}

describe('tarball', () => {
  it('is smaller than 200,000 bytes', () => {
    assert.ok(size < 200_000, `It has ${size} bytes.`);
  });

  it('contains only dist, the documents, the files in deploy, and the examples', async () => {
    const expected = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'package.json', ...(await listDocs())];
    for (const folder of ['deploy', 'examples', 'examples/frameworks']) {
      const files = await readdir(join(root, folder), { recursive: folder === 'deploy', withFileTypes: true });
      const travels = (name: string): boolean => (folder === 'deploy' ? !name.endsWith('.tgz') : name.endsWith('.ts'));
      const found = files.filter((file) => file.isFile() && travels(file.name));
      expected.push(...found.map((file) => relative(root, join(file.parentPath, file.name))));
    }
    assert.deepEqual(paths.filter((path) => !path.startsWith('dist/')).sort(), expected.sort());
    assert.deepEqual(
      paths.filter((path) => /^dist\/(?:.*\.test\.|(?!.*\.(?:js|d\.ts)$))/.test(path)),
      [],
    );
  });

  it('contains only the declarations that the public entries need', async () => {
    const reached = await reachedFrom(entries.map((entry) => `dist/${moduleOf(entry)}.d.ts`));
    assert.deepEqual(
      paths.filter((path) => path.endsWith('.d.ts')).sort(),
      reached.filter((path) => !isBuiltin(path)).sort(),
    );
  });

  it('contains a fetch handler that does not load node:http', async () => {
    const reached = await reachedFrom(['dist/fetch.js']);
    assert.ok(reached.length > 10);
    assert.deepEqual(
      reached.filter((path) => path.startsWith('node:http')),
      [],
    );
  });

  it('imports only its own files and Node.js modules, both in code and in types', async () => {
    for (const path of paths.filter((each) => each.startsWith('dist/'))) {
      for (const imported of await importsOf(path)) {
        const isNode = imported.startsWith('node:') && isBuiltin(imported);
        assert.ok(isNode || paths.includes(imported), `${path} imports ${imported}`);
      }
    }
  });
});
