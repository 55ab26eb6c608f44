import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { describe, it } from 'node:test';
import { listDocs, readDocument } from '../support/documents.ts';
import { root } from '../support/sources.ts';
import { pack } from './pack.ts';
import { manifest } from './manifest.ts';

const { size, files } = await pack('--dry-run');
const paths = files.map(({ path }) => path);

/** Returns files, what they import, what the imported files import, and so on. */
async function reachedFrom(files: readonly string[]): Promise<string[]> {
  const reached = new Set(files);
  for (const path of reached) {
    if (isBuiltin(path)) continue;
    for (const [, specifier = ''] of (await readDocument(path)).matchAll(/\bfrom\s+['"]([^'"]+)['"]/g)) {
      const imported = specifier.startsWith('.') ? join(dirname(path), specifier) : specifier;
      // Declarations keep the extension .ts, for which TypeScript reads the .d.ts file.
      reached.add(path.endsWith('.d.ts') ? imported.replace(/\.[jt]s$/, '.d.ts') : imported);
    }
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
      paths.filter((path) => path.startsWith('dist/') && !/\.(?:js|d\.ts)$/.test(path)),
      [],
    );
    assert.deepEqual(
      paths.filter((path) => /^dist\/.*\.test\.|tsbuildinfo/.test(path)),
      [],
    );
  });

  it('contains a file and its types for each export', () => {
    for (const target of Object.values(manifest.exports)) {
      const path = target.replace('./', '');
      assert.ok(paths.includes(path), path);
      if (path.endsWith('.js')) assert.ok(paths.includes(path.replace(/\.js$/, '.d.ts')), `${path} has no types`);
    }
  });

  it('contains the declarations that those of the exports import, and no others', async () => {
    const entries = Object.values(manifest.exports).filter((target) => target.endsWith('.js'));
    const reached = await reachedFrom(entries.map((target) => target.replace('./', '').replace(/\.js$/, '.d.ts')));
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

  it('contains a bin that starts with the shebang of node', async () => {
    for (const path of Object.values(manifest.bin)) {
      assert.ok(paths.includes(path), path);
      assert.ok((await readDocument(path)).startsWith('#!/usr/bin/env node\n'), path);
    }
  });

  it('imports only its own files and the modules of Node.js, in code and in types', async () => {
    for (const path of paths.filter((each) => each.startsWith('dist/'))) {
      const code = (await readDocument(path)).replace(/\/\*[\s\S]*?\*\//g, '');
      for (const [, specifier = ''] of code.matchAll(/(?:\bfrom\s+|\bimport(?:\s+|\s*\(\s*))['"]([^'"]+)['"]/g)) {
        if (specifier.startsWith('node:') && isBuiltin(specifier)) continue;
        const imported = join(dirname(path), specifier);
        // Declarations keep the extension .ts, for which TypeScript reads the .d.ts file.
        const file = path.endsWith('.d.ts') ? imported.replace(/\.[jt]s$/, '.d.ts') : imported;
        assert.ok(specifier.startsWith('.') && paths.includes(file), `${path} imports ${specifier}`);
      }
    }
  });
});
