import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import { backUpDatabase } from '../../../src/storage/sqlite/backup.ts';
import { create } from '../../../src/testing/plants.ts';
import { createAll, rowOfPlants } from '../../support/stored-plants.ts';
import { attachStrace } from '../../support/system-fault.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { newPath, openSqlite } from './sqlite-state.ts';

/** Returns the paths that this process syncs during `work`, in order, or `undefined` if strace cannot be attached. */
async function syncedDuring(t: TestContext, work: () => Promise<unknown>): Promise<string[] | undefined> {
  const output = join(await temporaryFolder(t), 'trace');
  const strace = await attachStrace(t, process.pid, ['-y', '-e', 'trace=fsync,fdatasync'], output);
  if (strace === undefined) return undefined;
  await work();
  await strace.stop('SIGINT');
  return [...(await readFile(output, 'utf8')).matchAll(/sync\(\d+<([^>]*)>\) += 0/g)].map(([, path = '']) => path);
}

it('SqliteStorage syncs the directory entry of a new file before the first commit resolves', async (t) => {
  const path = await newPath(t);
  const synced = await syncedDuring(t, () => openSqlite(t, path).commit([create(1)]));
  if (synced !== undefined) assert.ok(synced.includes(dirname(path)), synced.join());
});

it('backUpDatabase syncs the directory entry of the target before it resolves', async (t) => {
  const [file, target] = [await newPath(t), await newPath(t)];
  await createAll(file, rowOfPlants('ada', 1));
  const synced = await syncedDuring(t, () => backUpDatabase(file, target, () => undefined));
  if (synced !== undefined) assert.equal(synced.at(-1), dirname(target));
});
