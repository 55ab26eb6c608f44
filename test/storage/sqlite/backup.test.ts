import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { it } from 'node:test';
import { backUpDatabase } from '../../../src/storage/sqlite/backup.ts';
import { create } from '../../../src/testing/plants.ts';
import { createAll, readAll, rowOfPlants } from '../../support/stored-plants.ts';
import { makeCrashed, newPath, openSqlite } from './sqlite-state.ts';

/** Enough plants for a backup of several steps. */
const plants = rowOfPlants('ada', 2000, 'x'.repeat(2000));

it('backUpDatabase › copies the plants that exist at the beginning, even if servers write meanwhile', async (t) => {
  const [file, target] = [await newPath(t), await newPath(t)];
  await createAll(file, plants);
  const commits: Promise<boolean[]>[] = [];
  await backUpDatabase(file, target, () => {
    // Because of this limit, a backup that restarts after each write fails the test. Otherwise, it would never end.
    if (commits.length < 20) commits.push(openSqlite(t, file).commit([create(commits.length, 'bob')]));
  });
  assert.ok(commits.length > 2, `${commits.length} steps`);
  assert.deepEqual(new Set((await Promise.all(commits)).flat()), new Set([true]));
  assert.deepEqual(await readAll(target), plants);
});

it('backUpDatabase › refuses a target if it, its WAL or its journal exists', async (t) => {
  const file = await newPath(t);
  await createAll(file, plants);
  // The WAL of another file contains valid pages, which would replace those of the copy.
  const wal = await readFile(`${await makeCrashed(t, [create(1, 'eve')])}-wal`);
  for (const ending of ['', '-wal', '-journal']) {
    const target = await newPath(t);
    const message = new RegExp(`plants\\.db${ending} already exists`);
    const late = backUpDatabase(file, target, () => {
      writeFileSync(target + ending, wal);
    });
    await assert.rejects(late, message);
    const started = (): never => assert.fail('The copy has started');
    await assert.rejects(backUpDatabase(file, target, started), message);
    assert.deepEqual(await readFile(target + ending), wal);
    assert.deepEqual(await readdir(dirname(target)), [`plants.db${ending}`]);
  }
});
