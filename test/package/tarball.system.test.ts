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

/** Returns what a file of `dist` imports: other files, and modules of Node.js. */
async function importsOf(path: string): Promise<string[]> {
  const code = (await readDocument(path)).replace(/\/\*[\s\S]*?\*\//g, '');
  const imports = code.matchAll(/(?:\bfrom\s+|\bimport(?:\s+|\s*\(\s*))['"]([^'"]+)['"]/g);
  return Array.from(imports, ([, specifier = '']) => {
    if (!specifier.startsWith('.')) return specifier;
    const imported = join(dirname(path), specifier);
    // Declarations keep the extension .ts, for which TypeScript reads the .d.ts file.
    return path.endsWith('.d.ts') ? imported.replace(/\.[jt]s$/, '.d.ts') : imported;
  });
}

/** Returns files, what they import, what the imported files import, and so on. */
async function reachedFrom(files: readonly string[]): Promise<string[]> {
  const reached = new Set(files);
  for (const path of reached) {
    if (!isBuiltin(path)) for (const imported of await importsOf(path)) reached.add(imported);
  }
  return [...reached];
}

describe('tarball', () => {
  it('is under 200 000 bytes', () => {
    assert.ok(size < 200_000, `It has ${size} bytes.`);
  });

  it('contains dist, the documents, the files of deploy and the examples, and nothing else', async () => {
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

  it('contains the declarations that those of the exports import, and no others', async () => {
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

  it('imports only its own files and the modules of Node.js, in code and in types', async () => {
    for (const path of paths.filter((each) => each.startsWith('dist/'))) {
      for (const imported of await importsOf(path)) {
        const isNode = imported.startsWith('node:') && isBuiltin(imported);
        assert.ok(isNode || paths.includes(imported), `${path} imports ${imported}`);
      }
    }
  });
});
