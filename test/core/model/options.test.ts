import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createPlantServer, createRequestListener } from '../../../src/http.ts';
import { createTokenFileAuthenticator } from '../../../src/tokens.ts';
import { issueToken } from '../../../src/tokens/issue.ts';
import { MemoryStorage, PlantStore } from '../../../src/index.ts';
import type { ListOptions } from '../../../src/index.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const store = new PlantStore({ storage: new MemoryStorage() });
const authenticate = (): null => null;
const pool = { query: () => Promise.resolve({ rows: [], rowCount: 0 }) };

/** The classes and functions that have an options object. */
const owners: Readonly<Record<string, (options: never) => unknown>> = {
  PlantStore: (options) => new PlantStore(options),
  SqliteStorage: (options) => new SqliteStorage('never-created.db', options),
  PostgresStorage: (options) => new PostgresStorage(options),
  createRequestListener: (options) => createRequestListener(store, options),
  createPlantServer: (options) => createPlantServer(store, options),
  createTokenFileAuthenticator: (options) => createTokenFileAuthenticator('never-read.json', options),
};

describe('options', () => {
  for (const [owner, take] of Object.entries(owners)) {
    it(`of ${owner}: reject an unknown option with a TypeError that names it and the known options`, () => {
      for (const name of ['maxBodySize', 'busyTimeout', 'toString', '__proto_']) {
        const expected = new RegExp(`has no option ${name}\\. Its options are \\w+`);
        assert.throws(() => take({ [name]: 1 } as never), { name: 'TypeError', message: expected });
      }
    });

    it(`of ${owner}: reject a value that is not an object with a TypeError`, () => {
      for (const options of [null, 5, 'memory']) {
        const expected = /^The options of \w+ must be an object$/;
        assert.throws(() => take(options as never), { name: 'TypeError', message: expected });
      }
    });
  }

  it('of SqliteStorage: reject a commitThread that is not a boolean with a TypeError that names it', () => {
    for (const commitThread of [1, 'true', null]) {
      const expected = { name: 'TypeError', message: 'commitThread must be true or false' };
      assert.throws(() => owners['SqliteStorage']?.({ commitThread } as never), expected);
    }
  });

  it('cannot be omitted if one of them is required', () => {
    for (const owner of ['PlantStore', 'PostgresStorage', 'createRequestListener', 'createPlantServer']) {
      assert.throws(() => owners[owner]?.(undefined as never), { name: 'TypeError', message: /must be an object/ });
    }
  });

  // The compiler checks that the types permit `undefined`, too.
  it('may be undefined unless they are required', async (t) => {
    const folder = await temporaryFolder(t);
    const path = join(folder, 'tokens.json');
    issueToken(path, { user: 'ada' });
    const storage = new SqliteStorage(join(folder, 'a.db'), { busyTimeoutMs: undefined, commitThread: undefined });
    await new PlantStore({ storage, maxPendingWrites: undefined, maxCacheBytes: undefined }).close();
    new PostgresStorage({ pool, schema: undefined, table: undefined, createTable: undefined });
    createTokenFileAuthenticator(path, { onWarning: undefined });
    createRequestListener(store, {
      authenticate,
      maxBodyBytes: undefined,
      maxInFlight: undefined,
      basePath: undefined,
      corsOrigin: undefined,
      trustedProxies: undefined,
      onError: undefined,
    });
    assert.deepEqual(await store.listPlants('ada', { limit: undefined, after: undefined }), []);
  });

  it('of a list: reject an unknown option with a TypeError that names it', async () => {
    const expected = {
      name: 'TypeError',
      message: 'a list request has no option offset. Its options are after, limit',
    };
    await assert.rejects(store.listPlants('ada', { offset: 5 } as ListOptions), expected);
    await assert.rejects(store.listPage('ada', { offset: 5 } as ListOptions), expected);
    await assert.rejects(store.iteratePages('ada', { offset: 5 } as ListOptions).next(), expected);
    await assert.rejects(store.listPlants('ada', null as unknown as ListOptions), { name: 'TypeError' });
  });

  it('of createRequestListener: require a PlantStore as the first argument', () => {
    for (const wrong of [undefined, null, {}, new MemoryStorage()]) {
      const expected = { name: 'TypeError', message: 'store must be a PlantStore' };
      assert.throws(() => createRequestListener(wrong as PlantStore, { authenticate }), expected);
    }
  });
});
