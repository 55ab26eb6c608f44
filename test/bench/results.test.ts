import assert from 'node:assert/strict';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { continueResults, finishResults, savePartialResults } from './results.ts';

const settings = { rounds: 15, seconds: 0.5, candidates: '.' };
const row = { name: 'create', rounds: 16, steady: 15, medians: { bare: { cpuMicros: 9.5 }, own: { cpuMicros: 19 } } };

it('results › continue an interrupted run with the same settings', async (t) => {
  const folder = await temporaryFolder(t);
  const results = { ...(await continueResults(folder, settings)), rows: [row] };
  await savePartialResults(folder, results);
  assert.deepEqual(await continueResults(folder, settings), results);
  assert.deepEqual((await continueResults(folder, { ...settings, rounds: 3 })).rows, []);
});

it('results › are those of a finished run only after its last row', async (t) => {
  const folder = await temporaryFolder(t);
  const results = { ...(await continueResults(folder, settings)), rows: [row] };
  await savePartialResults(folder, results);
  await assert.rejects(access(join(folder, 'results.json')));
  assert.deepEqual(JSON.parse(await readFile(await finishResults(folder), 'utf8')), results);
  assert.deepEqual((await continueResults(folder, settings)).rows, []);
});
