import assert from 'node:assert/strict';
import { dirname, join, normalize } from 'node:path';
import { describe, it } from 'node:test';
import { readDocument } from '../support/documents.ts';
import { pack } from './pack.ts';

const { files, size } = await pack('--dry-run');
const paths = files.map(({ path }) => path);

describe('tarball', () => {
  it('contains the program, the documents, deploy and examples, and is smaller than 300,000 bytes', () => {
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

  it('contains the target of every relative link', async () => {
    const links: string[] = [];
    for (const path of paths.filter((each) => each.endsWith('.md'))) {
      const text = (await readDocument(path)).replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, '');
      for (const [, link = ''] of text.matchAll(/\]\(([^()\s#]+)[^()\s]*\)/g)) {
        if (!/^[a-z]+:/.test(link)) links.push(normalize(join(dirname(path), link)));
      }
    }
    assert.ok(links.length > 100);
    assert.deepEqual(
      [...new Set(links)].filter((link) => !paths.some((path) => `${path}/`.startsWith(`${link}/`.replace('//', '/')))),
      [],
    );
  });
});
