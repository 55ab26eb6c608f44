import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { root } from './candidates.ts';
import { writeResults } from './results.ts';
import type { Results } from './results.ts';
import { tablesOf } from './tables.ts';

/** The files that contain figures, relative to the repository root. */
export const publishedFiles = ['README.md', 'docs/performance.md'];

/** Writes the results of a run to results.json, draws the chart, and writes the tables to the documentation. */
export async function publish(results: Results): Promise<void> {
  const here = join(root, 'test/bench');
  const path = join(here, 'results.json');
  await writeResults(path, results);
  execFileSync(process.execPath, [join(here, 'chart.js'), path, join(here, 'chart.svg')], { stdio: 'inherit' });
  for (const file of publishedFiles) {
    const text = await readFile(join(root, file), 'utf8');
    await writeFile(join(root, file), await replaceTables(text, results));
  }
}

/** Replaces the text between `<!-- bench:NAME -->` and `<!-- /bench -->`. */
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
