// Runs the suite of the built package under Vitest, for a memory adapter and for an SQLite adapter with real faults.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'vitest';
import { MemoryStorage } from '../../dist/index.js';
import { testStorageAdapter } from '../../dist/testing.js';
import { SqliteStorage } from '../../dist/sqlite.js';

/** A broken adapter, which returns the plant with the id `after` again. */
class RepeatsAfter extends MemoryStorage {
  list(user, { after, limit }) {
    return super.list(user, { after: after === undefined ? undefined : after - 1n, limit });
  }
}

const Memory = process.env.BROKEN === undefined ? MemoryStorage : RepeatsAfter;
testStorageAdapter(Memory.name, {
  createLocation: () => ({ open: () => new Memory() }),
  persistent: false,
  runner: { describe, it },
});

testStorageAdapter('SqliteStorage', {
  runner: { describe, it },
  createLocation: async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'plant-store-'));
    t.after(() => rm(folder, { recursive: true }));
    const path = join(folder, 'plants.db');
    const open = () => new SqliteStorage(path);
    return { path, open, reopen: open };
  },
  persistent: true,
  makeWriteFail: ({ path }, { kind, user, id }) => {
    const [event, row] = kind === 'create' ? ['INSERT', 'NEW'] : ['DELETE', 'OLD'];
    const database = new DatabaseSync(path);
    database.exec(`CREATE TRIGGER fault BEFORE ${event} ON plants WHEN ${row}.user = '${user}' AND ${row}.id = ${id}
      BEGIN SELECT RAISE(ABORT, 'a fault on purpose'); END`);
    database.close();
  },
});
