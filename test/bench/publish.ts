import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { root } from './candidates.ts';
import type { Results } from './results.ts';
import { tablesOf } from './tables.ts';

/** The files that contain figures, relative to the root. */
export const publishedFiles = ['README.md', 'docs/performance.md'];

/** Draws the chart of a finished run, and writes its tables to the documentation, or to copies in a folder. */
export async function publish(results: string, copies: string | undefined): Promise<void> {
  const here = join(root, 'test/bench');
  const chart = join(copies ?? here, 'chart.svg');
  execFileSync(process.execPath, [join(here, 'chart.js'), results, chart], { stdio: 'inherit' });
  const parsed = JSON.parse(await readFile(results, 'utf8')) as Results;
  for (const file of publishedFiles) {
    const text = await readFile(join(root, file), 'utf8');
    await writeFile(
      join(copies ?? root, copies === undefined ? file : basename(file)),
      await replaceTables(text, parsed),
    );
  }
}

/** Replaces what is between `<!-- bench:NAME -->` and `<!-- /bench -->`. */
export async function replaceTables(text: string, results: Results): Promise<string> {
  const style = { ...(await resolveConfig(join(root, 'README.md'))), parser: 'markdown', proseWrap: 'always' } as const;
  let replaced = text;
  for (const [name, content] of Object.entries(tablesOf(results))) {
    const place = new RegExp(`(<!-- bench:${name} -->\\n).*?(?=<!-- /bench -->)`, 's');
    const formatted = await format(content, style);
    replaced = replaced.replace(place, (_, start: string) => `${start}\n${formatted}\n`);
  }
  return replaced;
}
