import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { listDocs, parsePage, readDocument } from './support/documents.ts';
import { root } from './support/sources.ts';

const pages = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...(await listDocs())];

for (const path of pages) {
  it(`${path} has unique headings, and its relative links lead to files and headings`, async () => {
    const { anchors, links } = await parsePage(path);
    assert.equal(new Set(anchors).size, anchors.length, 'Two headings have the same anchor.');
    for (const { target, anchor } of links) {
      assert.ok(existsSync(join(root, target)), `${path} links to ${target}, which does not exist`);
      if (anchor === undefined) continue;
      const { anchors } = await parsePage(target);
      assert.ok(anchors.includes(anchor), `${path} links to ${target}#${anchor}, which is not a heading`);
    }
  });
}

it('documents name only source files that exist', async () => {
  const text = (await Promise.all(pages.map(readDocument))).join('');
  const files = Array.from(text.matchAll(/`(?:src\/)?([a-z]+\/[\w/-]+\.ts)`/g), ([, file = '']) => file);
  assert.ok(files.length > 20);
  const missing = files.filter((file) => !existsSync(join(root, 'src', file)) && !existsSync(join(root, file)));
  assert.deepEqual(missing, []);
});

it('documents are all listed in README', async () => {
  const { links } = await parsePage('README.md');
  const missing = pages.filter((path) => path !== 'README.md' && !links.some(({ target }) => target === path));
  assert.deepEqual(missing, []);
});
