import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parsePage } from '../support/documents.ts';
import { pack } from './pack.ts';

const { files, size } = await pack('--dry-run');
const paths = files.map(({ path }) => path);

it('the tarball contains the program, the documents, deploy and examples, and is smaller than 300,000 bytes', () => {
  const documents = ['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md', 'package.json'];
  const topLevel = new Set(paths.map((path) => path.replace(/\/.*/, '')));
  assert.deepEqual([...topLevel].sort(), [...documents, 'deploy', 'dist', 'docs', 'examples', 'test'].sort());
  assert.deepEqual(
    paths.filter((path) => !/\.(?:js|d\.ts)$/.test(path) && path.startsWith('dist/')),
    [],
  );
  assert.deepEqual(
    paths.filter((path) => /node_modules|lock|tsconfig|\.tgz$|^test\/.*\.ts$/.test(path)),
    [],
  );
  assert.ok(size < 300_000, `It has ${size} bytes.`);
});

it('the tarball contains the target of every relative link', async () => {
  const pages = await Promise.all(paths.filter((path) => path.endsWith('.md')).map(parsePage));
  const targets = new Set(pages.flatMap(({ links }) => links.map(({ target }) => target.replace(/\/$/, ''))));
  assert.ok(targets.size > 20);
  for (const target of targets) {
    const isPacked = paths.some((path) => path === target || path.startsWith(`${target}/`));
    assert.ok(isPacked, `${target} is not in the tarball`);
  }
});
