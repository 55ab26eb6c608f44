import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { publishedFiles, replaceTables, passagesOf } from './publish.ts';
import type { Results } from './publish.ts';

const read = (path: string): Promise<string> => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
const results = JSON.parse(await read('test/bench/results.json')) as Results;

for (const file of publishedFiles) {
  it(`${file} › contains the figures of results.json`, async () => {
    const text = await read(file);
    assert.equal(text, await replaceTables(text, results));
  });
}

it('bench passages › each occur once in README and docs', async () => {
  const text = (await Promise.all(publishedFiles.map(read))).join('');
  const names = [...text.matchAll(/<!-- bench:(\S+) -->/g)].map(([, name]) => name);
  assert.deepEqual(names.sort(), Object.keys(passagesOf(results)).sort());
});
