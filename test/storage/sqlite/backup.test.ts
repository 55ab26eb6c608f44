import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import { backUpDatabase } from '../../../src/storage/sqlite/backup.ts';
import { createAll, owned, readAll } from '../../support/stored-plants.ts';
import { create, createEach } from '../../support/writes.ts';
import { ids, makeCrashed, newPath, openSqlite } from './sqlite-state.ts';

/** Enough plants for a backup of several steps. */
const plants = Array.from({ length: 2000 }, (_, n) => owned('ada', { id: BigInt(n), name: 'x'.repeat(2000) }));

describe('backUpDatabase', () => {
  it('copies the plants that existed at the beginning, even if servers start and write between the steps of the backup', async (t) => {
    const [file, target] = [await newPath(t), await newPath(t)];
    await createAll(file, plants);
    const commits: Promise<boolean[]>[] = [];
    await backUpDatabase(file, target, () => {
      // The backup prevents WAL checkpoints. Without this limit, a backup that restarted after each write would never
      // end.
      if (commits.length < 20) commits.push(openSqlite(t, file).commit([create(commits.length, 'bob')]));
    });
    assert.ok(commits.length > 2, `${commits.length} steps`);
    assert.deepEqual(new Set((await Promise.all(commits)).flat()), new Set([true]));
    assert.deepEqual(await readAll(target), plants);
  });

  it('does not overwrite a file that another process creates meanwhile, and leaves no temporary file', async (t) => {
    const [file, target] = [await newPath(t), await newPath(t)];
    await createAll(file, plants);
    const backup = backUpDatabase(file, target, () => {
      writeFileSync(target, 'Dear Ada');
    });
    await assert.rejects(backup, {
      message: `${target} already exists. A backup never overwrites a file: choose another name.`,
    });
    assert.equal(await readFile(target, 'utf8'), 'Dear Ada');
    assert.deepEqual(await readdir(dirname(target)), ['plants.db']);
  });

  it('lets a server that starts during the backup discard a WAL whose sync failed before a crash', async (t) => {
    const path = await makeCrashed(t, createEach(plants));
    const crashed = await readFile(`${path}-wal`);
    let committed: Promise<boolean[]> | undefined;
    await backUpDatabase(path, `${path}.copy`, () => {
      committed ??= openSqlite(t, path).commit([create(-1)]);
    });
    assert.deepEqual(await committed, [true]);
    // After a failed sync, a power failure loses every WAL page that is not written again.
    const log = await readFile(`${path}-wal`);
    for (let at = 0; at < log.length; at += 4096) {
      const page = log.subarray(at, at + 4096);
      if (page.equals(crashed.subarray(at, at + 4096))) page.fill(0);
    }
    await copyFile(path, `${path}.left`);
    await writeFile(`${path}.left-wal`, log);
    assert.equal((await ids(openSqlite(t, `${path}.left`)))[0], -1);
  });
});
