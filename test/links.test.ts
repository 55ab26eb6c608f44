import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { describe, it } from 'node:test';
import { pack } from './package/pack.ts';
import { listDocs, readDocument } from './support/documents.ts';
import { root } from './support/sources.ts';

const docs = await listDocs();
const pages = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...docs];

/** The pages that the npm package contains. */
const packedPages = pages.filter((path) => path !== 'CONTRIBUTING.md');

/** The linked files that the npm package does not contain. */
const onlyInClone = ['CONTRIBUTING.md', 'test/bench/results.json', 'test/failover/README.md'];

interface Page {
  readonly anchors: ReadonlySet<string>;
  /** The relative links: a path, an anchor, or both. */
  readonly links: readonly string[];
}

/** Parses a page. Code is skipped, because it contains no headings or links. */
async function parsePage(path: string): Promise<Page> {
  const text = (await readDocument(path)).replace(/^```.*?^```$/gms, '');
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  const targets = [...text.replace(/`[^`\n]*`/g, '').matchAll(/\]\(([^()\s]*)\)/g)].map(([, target = '']) => target);
  return { anchors: anchorsOf(headings), links: targets.filter((target) => !/^[a-z]+:/.test(target)) };
}

/** Returns the anchors that GitHub generates for headings. The anchor of a repeated heading ends with a number. */
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

/** Returns the folders that contain a path. */
function parentsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === '.' ? [] : [parent, ...parentsOf(parent)];
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

  it('name only source files that exist', async () => {
    const folders = (await readdir(join(root, 'test'))).map((name) => `test/${name}/README.md`);
    const guides = ['CONTRIBUTING.md', ...folders.filter((path) => existsSync(join(root, path)))];
    for (const guide of guides) {
      for (const [, name = ''] of (await readDocument(guide)).matchAll(/`([^` *]+\/[^` *]+\.ts)`/g)) {
        const exists = [name, join('src', name)].some((path) => existsSync(join(root, path)));
        assert.ok(exists, `${guide} names ${name}, which does not exist`);
      }
    }
  });

  it('link only to files in the npm package, to pictures, and to files that only a clone contains', async () => {
    const { files } = await pack('--dry-run');
    const packed = new Set(files.map(({ path }) => path));
    const folders = new Set([...packed].flatMap((path) => parentsOf(path)));
    const absent = new Set<string>();
    for (const path of packedPages) {
      for (const link of (await parsePage(path)).links) {
        const target = normalize(join(dirname(path), link.replace(/#.*/, ''))).replace(/\/$/, '');
        if (!link.startsWith('#') && !packed.has(target) && !folders.has(target)) absent.add(target);
      }
    }
    const unexpected = [...absent].filter((target) => !/\.(?:png|svg)$/.test(target) && !onlyInClone.includes(target));
    assert.deepEqual(unexpected, []);
    assert.deepEqual(
      onlyInClone.filter((target) => !absent.has(target)),
      [],
    );
  });

  it('are all listed in README', async () => {
    const { links } = await parsePage('README.md');
    const missing = pages.filter((path) => path !== 'README.md' && !links.includes(path));
    assert.deepEqual(missing, []);
  });
});
