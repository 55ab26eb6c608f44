import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { publishedFiles, replacePassages, passagesOf } from './publish.ts';
import type { Results } from './publish.ts';

it('published figures › equal those of results.json, and each is published once', async () => {
  const read = (path: string): Promise<string> => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
  const results = JSON.parse(await read('test/bench/results.json')) as Results;
  const texts = await Promise.all(publishedFiles.map(read));
  for (const text of texts) assert.equal(text, await replacePassages(text, results));
  const names = [...texts.join('').matchAll(/<!-- bench:(\S+) -->/g)].map(([, name]) => name);
  assert.deepEqual(names.sort(), Object.keys(passagesOf(results)).sort());
});
