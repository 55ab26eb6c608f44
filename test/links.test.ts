import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, it } from 'node:test';
import { listDocs, readDocument } from './support/documents.ts';
import { root } from './support/sources.ts';

const docs = await listDocs();
const pages = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...docs];

interface Page {
  readonly anchors: ReadonlySet<string>;
  /** The relative links: a path, an anchor, or both. */
  readonly links: readonly string[];
}

/** Parses a page. Code is skipped, because neither headings nor links occur in it. */
async function parsePage(path: string): Promise<Page> {
  const text = (await readDocument(path)).replace(/^```.*?^```$/gms, '');
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  const targets = [...text.replace(/`[^`\n]*`/g, '').matchAll(/\]\(([^()\s]*)\)/g)].map(([, target = '']) => target);
  return { anchors: anchorsOf(headings), links: targets.filter((target) => !/^[a-z]+:/.test(target)) };
}

/** Makes the anchors of headings as GitHub does: a repeated heading gets a number. */
function anchorsOf(headings: string[]): Set<string> {
  const anchors = new Set<string>();
  for (const heading of headings) {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    let unique = anchor;
    for (let n = 1; anchors.has(unique); n++) unique = `${anchor}-${n}`;
    anchors.add(unique);
  }
  return anchors;
}

describe('documents', () => {
  for (const path of pages) {
    it(`${path}: has relative links to files and headings that exist`, async () => {
      const { links } = await parsePage(path);
      for (const link of links) {
        const [file = '', anchor] = link.split('#');
        const target = file === '' ? path : normalize(join(dirname(path), file));
        assert.ok(existsSync(join(root, target)), `${path} links to ${link}, which does not exist`);
        if (anchor === undefined) continue;
        assert.ok((await parsePage(target)).anchors.has(anchor), `${path} links to ${link}, which is not a heading`);
      }
    });
  }

  it('are all listed in README', async () => {
    const { links } = await parsePage('README.md');
    const missing = pages.filter((path) => path !== 'README.md' && !links.includes(path));
    assert.deepEqual(missing, []);
  });
});
