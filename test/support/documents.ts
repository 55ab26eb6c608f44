import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { root } from './sources.ts';

const docs = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md')).sort();

/** The documents for users, as paths from the root folder. */
export const documents: readonly string[] = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...docs.map((name) => `docs/${name}`),
];

/** `path` is relative to the root folder. */
export function readDocument(path: string): Promise<string> {
  return readFile(join(root, path), 'utf8');
}

/**
 * Returns the anchors and the relative links of a page. A link consists of the path from the root folder, and the
 * anchor after `#`. Code blocks are skipped, because they contain no headings or links.
 */
export async function parsePage(path: string) {
  const text = (await readDocument(path)).replace(/^```.*?^```$/gms, '');
  // GitHub generates these anchors.
  const anchors = Array.from(text.matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  const targets = Array.from(text.replace(/`[^`\n]*`/g, '').matchAll(/\]\(([^()\s]*)\)/g), ([, link = '']) => link);
  const links = targets
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [file = '', anchor] = link.split('#');
      return { target: file === '' ? path : normalize(join(dirname(path), file)), anchor };
    });
  return { anchors, links };
}

export type Snippet = Awaited<ReturnType<typeof readSnippets>>[number];

/** Returns the snippets of the documents. A name consists of the page and the position on the page. */
export async function readSnippets() {
  const snippets = documents.map(async (page) => {
    const fences = (await readDocument(page)).matchAll(/^```(\w*)\n(.*?)^```$/gms);
    return Array.from(fences, ([, language = '', code = ''], n) => ({ name: `${page}, ${n + 1}`, language, code }));
  });
  return (await Promise.all(snippets)).flat();
}
