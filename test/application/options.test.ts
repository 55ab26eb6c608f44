import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFetchHandler } from '../../src/fetch.ts';
import { createPlantServer, createRequestListener } from '../../src/http.ts';
import { createTokenFileAuthenticator } from '../../src/tokens.ts';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import type { ListOptions } from '../../src/index.ts';
import { PostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { testStorageAdapter } from '../../src/testing.ts';

const store = new PlantStore({ storage: new MemoryStorage() });
const pool = { query: () => Promise.resolve({ rows: [], rowCount: 0 }) };

/** Classes and functions that accept an options object. */
const owners: Readonly<Record<string, (options: never) => unknown>> = {
  PlantStore: (options) => new PlantStore(options),
  SqliteStorage: (options) => new SqliteStorage('never-created.db', options),
  PostgresStorage: (options) => new PostgresStorage(options),
  createTokenFileAuthenticator: (options) => createTokenFileAuthenticator('never-read.json', options),
  createFetchHandler: (options) => createFetchHandler(store, options),
  createPlantServer: (options) => createPlantServer(store, options),
  createRequestListener: (options) => createRequestListener(store, options),
  testStorageAdapter: (options) => {
    testStorageAdapter('adapter', options);
  },
};

const storage = new MemoryStorage();
const authenticate = (): null => null;
const adapter = { createLocation: () => assert.fail(), shared: false };
const withoutScan = Object.assign(new MemoryStorage(), { scan: undefined });
type WrongOptions = [owner: string, options: object, message: string | RegExp];
const wrongOptions: WrongOptions[] = [
  ['PlantStore', { storage: withoutScan }, 'storage must be a storage adapter: it has no scan'],
  ['PlantStore', { storage, maxPendingWrites: 0 }, 'maxPendingWrites must be an integer of 1 or more'],
  ['PlantStore', { storage, maxCacheBytes: 1.5 }, 'maxCacheBytes must be an integer of 0 or more'],
  ['SqliteStorage', { busyTimeoutMs: -1 }, 'busyTimeoutMs must be an integer from 0 to 2147483647'],
  ['SqliteStorage', { commitThread: null }, 'commitThread must be true or false'],
  ['PostgresStorage', { pool: {} }, /^pool must be/],
  ...['', 7, 'a\0b', 'é'.repeat(32)].map((table): WrongOptions => [
    'PostgresStorage',
    { pool, table },
    /^table must be/,
  ]),
  ['PostgresStorage', { pool, schema: '' }, /^schema must be/],
  ['PostgresStorage', { pool, createTable: 'no' }, /^createTable must be/],
  ['createTokenFileAuthenticator', { onWarning: 'console.error' }, 'onWarning must be a function'],
  ['createPlantServer', { authenticate: undefined }, 'authenticate must be a function'],
  ['createFetchHandler', { authenticate, onError: 'x' }, 'onError must be a function'],
  ['createRequestListener', { authenticate, maxBodyBytes: 0 }, 'maxBodyBytes must be an integer of 1 or more'],
  ['createRequestListener', { authenticate, maxInFlight: 0 }, 'maxInFlight must be an integer of 1 or more'],
  ['createRequestListener', { authenticate, trustedProxies: -1 }, 'trustedProxies must be an integer of 0 or more'],
  ...['garden', '/garden/', '/', '//garden', '/a b', '/%7', null].map((basePath): WrongOptions => [
    'createRequestListener',
    { authenticate, basePath },
    /^basePath must be a path/,
  ]),
  ['testStorageAdapter', { ...adapter, createLocation: 'a folder' }, 'createLocation must be a function'],
  ['testStorageAdapter', { ...adapter, shared: undefined }, 'shared must be true or false'],
  ['testStorageAdapter', { ...adapter, makeWriteFail: true }, 'makeWriteFail must be a function'],
  ['testStorageAdapter', { ...adapter, timeoutMs: 0 }, 'timeoutMs must be an integer from 1 to 2147483647'],
];

describe('options', () => {
  for (const [owner, take] of Object.entries(owners)) {
    it(`of ${owner} are rejected with a TypeError if one is unknown or if they are not an object`, () => {
      for (const name of ['maxBodySize', 'toString', '__proto_']) {
        const message = new RegExp(`^[\\w ]+ has no option ${name}\\. Its options are \\w+(?:, \\w+)*$`);
        assert.throws(() => take({ [name]: 1 } as never), { name: 'TypeError', message });
      }
      const required = owner === 'SqliteStorage' || owner === 'createTokenFileAuthenticator' ? [] : [undefined];
      for (const options of [...required, null, 5, 'memory']) {
        const expected = { name: 'TypeError', message: /^The options of [\w ]+ must be an object$/ };
        assert.throws(() => take(options as never), expected);
      }
    });
  }

  it('with an invalid value are rejected with a TypeError that names the option and its range', () => {
    for (const [owner, options, message] of wrongOptions) {
      assert.throws(() => owners[owner]?.(options as never), { name: 'TypeError', message });
    }
  });

  it('of a service are rejected if the store is not a PlantStore', () => {
    for (const create of [createFetchHandler, createPlantServer, createRequestListener]) {
      const expected = { name: 'TypeError', message: /^store must be a PlantStore/ };
      assert.throws(() => create(storage as never, { authenticate }), expected);
    }
  });

  it('of a list request are rejected with a TypeError that names the option if one is unknown', async () => {
    const options = { offset: 5 } as ListOptions;
    const message = 'a list request has no option offset. Its options are after, limit';
    await assert.rejects(store.listPlants('ada', options), { name: 'TypeError', message });
    await assert.rejects(store.listPageJson('ada', options), { name: 'TypeError', message });
  });
});
