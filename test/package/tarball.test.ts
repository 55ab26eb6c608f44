import assert from 'node:assert/strict';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { readDocument } from '../support/documents.ts';
import { pack } from './pack.ts';
import { manifest } from './manifest.ts';

const { size, files } = await pack('--dry-run');
const paths = files.map(({ path }) => path);

describe('tarball', () => {
  it('is under 180 000 bytes', () => {
    assert.ok(size < 180_000, `It has ${size} bytes.`);
  });

  it('contains dist and the documents, and nothing else', () => {
    const documents = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'];
    assert.deepEqual(paths.filter((path) => !path.startsWith('dist/')).sort(), documents);
    assert.deepEqual(
      paths.filter((path) => path.startsWith('dist/') && !/\.(?:js|d\.ts)$/.test(path)),
      [],
    );
    assert.deepEqual(
      paths.filter((path) => /\.test\.|tsbuildinfo/.test(path)),
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

  it('contains a fetch handler that does not load node:http', async () => {
    const reached = new Set(['dist/fetch.js']);
    for (const path of reached) {
      if (isBuiltin(path)) continue;
      for (const [, specifier = ''] of (await readDocument(path)).matchAll(/\bfrom\s+['"]([^'"]+)['"]/g)) {
        reached.add(specifier.startsWith('.') ? join(dirname(path), specifier) : specifier);
      }
    }
    assert.deepEqual(
      [...reached].filter((path) => path.startsWith('node:http')),
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
