import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { SqliteStorage } from '../../src/storage/sqlite.ts';
import { testStorageAdapter } from '../../src/storage/conformance.ts';
import type { FaultyWrite } from '../../src/storage/conformance.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

testStorageAdapter('SqliteStorage', {
  makePlace: async (t) => {
    const path = join(await temporaryFolder(t), 'plants.db');
    return { path, open: () => new SqliteStorage(path) };
  },
  isShared: true,
  makeWriteFail: ({ path }, write) => { addTrigger(path, write, "SELECT RAISE(ABORT, 'a fault on purpose')"); },
  // A value of more than 1000000000 bytes: SQLITE_TOOBIG.
  makePlantUnstorable: ({ path }, write) => { addTrigger(path, write, 'SELECT zeroblob(2000000000)'); },
});

/** Runs a statement of SQL, over a second connection, whenever a storage applies this write. */
function addTrigger(path: string, { kind, user, id }: FaultyWrite, sql: string): void {
  const [event, row] = kind === 'create' ? ['INSERT', 'NEW'] : ['DELETE', 'OLD'];
  const database = new DatabaseSync(path);
  database.exec(`CREATE TRIGGER fault BEFORE ${event} ON plants WHEN ${row}.user = '${user}' AND ${row}.id = ${id} BEGIN ${sql}; END`);
  database.close();
}

describe('A page of a SqliteStorage', () => {
  it('ends with the plant by which its text is full, however much more there is', async (t) => {
    const storage = new SqliteStorage(join(await temporaryFolder(t), 'plants.db'));
    t.after(() => storage.close());
    const name = 'x'.repeat(30_000);
    await storage.commit(Array.from({ length: 40 }, (_, n) => ({ kind: 'create', user: 'ada', plant: { id: BigInt(n), name } })));
    const fullAt = Math.ceil(262_144 / name.length);
    assert.equal((await storage.list('ada', { after: undefined, limit: 40 })).length, fullAt);
    assert.equal((await storage.scan({ after: undefined, limit: 40 })).length, fullAt);
  });
});
