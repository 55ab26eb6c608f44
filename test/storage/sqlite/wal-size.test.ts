import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { create } from '../../support/writes.ts';
import { newPath, openSqlite, sizeOf } from './sqlite-state.ts';

/** A page of the WAL, with its header. */
const pageBytes = 4096 + 24;
const mebibyte = 1_048_576;

it('WAL of a SqliteStorage › has 1000 pages, 4000 with large batches, and 64 MiB after a slow reader', async (t) => {
  const path = await newPath(t);
  const storage = openSqlite(t, path);
  let id = 0;
  /** Creates plants of one page each, in batches. Returns the size of the WAL. */
  const fill = async (batches: number, batchLength: number): Promise<number> => {
    for (let batch = 0; batch < batches; batch++) {
      await storage.commit(Array.from({ length: batchLength }, () => create(id++, 'ada', 'x'.repeat(3000))));
    }
    return sizeOf(`${path}-wal`);
  };
  const small = (await fill(150, 10)) / pageBytes;
  assert.ok(small > 900 && small < 1200, `${small} pages`);
  const large = (await fill(60, 100)) / pageBytes;
  assert.ok(large > 3900 && large < 4200, `${large} pages`);

  const reader = new DatabaseSync(path);
  t.after(() => {
    reader.close();
  });
  reader.exec('BEGIN; SELECT count(*) FROM plants');
  assert.ok((await fill(24, 1000)) > 70 * mebibyte);
  reader.exec('COMMIT');
  assert.ok((await fill(2, 1)) <= 64 * mebibyte);
});
