import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SqliteStorage } from '../../src/storage/sqlite.ts';
import { testStorageAdapter } from '../../src/storage/conformance.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

testStorageAdapter('SqliteStorage', {
  makePlace: async (t) => {
    const folder = await temporaryFolder(t);
    return { open: () => new SqliteStorage(join(folder, 'plants.db')) };
  },
  isShared: true,
});

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
