import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { publishedFiles, replaceTables } from './publish.ts';
import type { Results } from './results.ts';
import { tablesOf } from './tables.ts';

const read = (path: string): Promise<string> => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
const results = JSON.parse(await read('test/bench/results.json')) as Results;

for (const file of publishedFiles) {
  it(`${file} › contains the figures of results.json`, async () => {
    const text = await read(file);
    assert.equal(text, await replaceTables(text, results));
  });
}

it('documentation › contains each table once', async () => {
  const text = (await Promise.all(publishedFiles.map(read))).join('');
  const names = [...text.matchAll(/<!-- bench:(\S+) -->/g)].map(([, name]) => name);
  assert.deepEqual(names.sort(), Object.keys(tablesOf(results)).sort());
});

it('tables › compare the medians within a row', () => {
  const figures = (cpuMicros: number, requestsPerSecond: number) => ({ cpuMicros, requestsPerSecond });
  const medians = {
    'bare node:http': figures(10, 9000),
    'Plant Store, SQLite': figures(21, 6000),
    'Fastify + better-sqlite3': figures(90, 1000),
  };
  const rows = [{ name: 'create, 64 connections', rounds: 15, steady: 15, medians }];
  assert.match(tablesOf({ ...results, rows })['sqlite'] ?? '', /^\| create \| 2\.1 × \| – \| – \| 6\.0 × \| – \|$/m);
});

it('tables › show how many rounds were repeated and how many are missing', () => {
  const rows = [
    { name: 'create, 64 connections', rounds: 18, steady: 15, medians: {} },
    { name: 'delete, 64 connections', rounds: 23, steady: 13, medians: {} },
  ];
  const { run = '' } = tablesOf({ ...results, rounds: 15, rows });
  assert.match(run, /Of 30 rounds, 11 were repeated for this reason, and 2 could not/);
});
