import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pack } from './pack.ts';

it('the tarball contains the program, the documents, deploy and examples, and is smaller than 200,000 bytes', async () => {
  const { files, size } = await pack('--dry-run');
  const paths = files.map(({ path }) => path);
  const documents = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'package.json'];
  const topLevel = new Set(paths.map((path) => path.replace(/\/.*/, '')));
  assert.deepEqual([...topLevel].sort(), [...documents, 'deploy', 'dist', 'docs', 'examples'].sort());
  assert.deepEqual(
    paths.filter((path) => !/\.(?:js|d\.ts)$/.test(path) && path.startsWith('dist/')),
    [],
  );
  assert.deepEqual(
    paths.filter((path) => /node_modules|lock|tsconfig|\.tgz$/.test(path)),
    [],
  );
  assert.ok(size < 200_000, `It has ${size} bytes.`);
});
