import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import type { SqliteStorage } from '../../../src/sqlite.ts';
import { create } from '../../support/writes.ts';
import { newPath, openSqlite, sizeOf } from './sqlite-state.ts';

/** A page of the WAL, with its header. */
const pageBytes = 4096 + 24;
const mebibyte = 1_048_576;

/** Creates plants of one page each, in batches. */
async function fill(storage: SqliteStorage, batches: number, batchLength: number, from = 0): Promise<void> {
  for (let batch = 0; batch < batches; batch++) {
    const first = from + batch * batchLength;
    await storage.commit(Array.from({ length: batchLength }, (_, n) => create(first + n, 'ada', 'x'.repeat(3000))));
  }
}

describe('the write-ahead log of a SqliteStorage', () => {
  it('reaches its size after 1000 pages with small batches, and after 4000 pages with large ones', async (t) => {
    const path = await newPath(t);
    const storage = openSqlite(t, path);
    await fill(storage, 150, 10);
    const small = await sizeOf(`${path}-wal`);
    assert.ok(small > 900 * pageBytes && small < 1200 * pageBytes, `${small / pageBytes} pages`);
    await fill(storage, 60, 100, 10_000);
    const large = await sizeOf(`${path}-wal`);
    assert.ok(large > 3900 * pageBytes && large < 4200 * pageBytes, `${large / pageBytes} pages`);
  });

  it('is truncated to 64 MiB after a reader has kept it from being checkpointed', async (t) => {
    const path = await newPath(t);
    const storage = openSqlite(t, path);
    await fill(storage, 1, 1);
    const reader = new DatabaseSync(path);
    t.after(() => {
      reader.close();
    });
    reader.exec('BEGIN; SELECT count(*) FROM plants');
    await fill(storage, 24, 1000, 1);
    assert.ok((await sizeOf(`${path}-wal`)) > 70 * mebibyte);
    reader.exec('COMMIT');
    await fill(storage, 2, 1, 100_000);
    assert.ok((await sizeOf(`${path}-wal`)) <= 64 * mebibyte);
  });
});
