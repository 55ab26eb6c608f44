import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createFetchHandler } from '../../src/fetch.ts';
import { createPlantServer, createRequestListener } from '../../src/http.ts';
import { createTokenFileAuthenticator } from '../../src/tokens.ts';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import type { ListOptions } from '../../src/index.ts';
import { PostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { testStorageAdapter } from '../../src/testing.ts';

/** A class or function with an options object. */
interface Owner {
  readonly create: (options: never) => unknown;
  readonly required: object;
  /** Values that are invalid, by the name of the option. */
  readonly invalid: Readonly<Record<string, readonly unknown[]>>;
}

const storage = new MemoryStorage();
const store = new PlantStore({ storage });
const authenticate = (): null => null;

const owners: readonly Owner[] = [
  {
    create: (options) => new PlantStore(options),
    required: { storage },
    invalid: {
      storage: [undefined, {}, Object.assign(new MemoryStorage(), { scan: undefined })],
      maxPendingWrites: [0, '1'],
      maxCacheBytes: [-1, 1.5],
    },
  },
  {
    create: (options) => new SqliteStorage('never-created.db', options),
    required: {},
    invalid: { busyTimeoutMs: [-1, 2_147_483_648], commitThread: [null] },
  },
  {
    create: (options) => new PostgresStorage(options),
    required: { pool: { query: () => Promise.resolve({ rows: [], rowCount: 0 }) } },
    invalid: { pool: [{}], table: ['', 7, 'a\0b', 'é'.repeat(32)], schema: [''], createTable: ['no'] },
  },
  {
    create: (options) => createTokenFileAuthenticator('never-read.json', options),
    required: {},
    invalid: { onWarning: ['console.error'] },
  },
  {
    create: (options) => createRequestListener(store, options),
    required: { authenticate },
    invalid: {
      ...{ authenticate: [undefined], onError: ['x'], maxBodyBytes: [0], maxInFlight: [0], trustedProxies: [-1] },
      basePath: ['garden', '/garden/', '/', '//garden', '/a b', '/%7', null],
    },
  },
  {
    create: (options) => {
      testStorageAdapter('adapter', options);
    },
    required: { createLocation: () => assert.fail(), shared: false },
    invalid: { createLocation: ['a folder'], shared: [undefined], startProcess: [true] },
  },
];

it('an unknown option, or one with an invalid value, causes a TypeError that names the option', () => {
  for (const { create, required, invalid } of owners) {
    for (const name of ['maxBodySize', 'toString', '__proto_']) {
      const expected = { name: 'TypeError', message: new RegExp(`has no option ${name}\\. Its options are \\w+`) };
      assert.throws(() => create({ [name]: 1 } as never), expected);
    }
    for (const options of [null, 5, 'memory', ...(Object.keys(required).length > 0 ? [undefined] : [])]) {
      assert.throws(() => create(options as never), { name: 'TypeError', message: /^The options of/ });
    }
    for (const [name, values] of Object.entries(invalid)) {
      for (const value of values) {
        const expected = { name: 'TypeError', message: new RegExp(`^${name} must be `) };
        assert.throws(() => create({ ...required, [name]: value } as never), expected);
      }
    }
  }
});

it('a service throws a TypeError if its store lacks a method', () => {
  for (const create of [createFetchHandler, createPlantServer, createRequestListener]) {
    const expected = { name: 'TypeError', message: /^store must be a PlantStore/ };
    assert.throws(() => create(storage as never, { authenticate }), expected);
  }
});

it('listPlants and listPageJson reject an unknown option with a TypeError that names it', async () => {
  const expected = { name: 'TypeError', message: /has no option offset\. Its options are after, limit/ };
  const options = { offset: 5 } as ListOptions;
  await assert.rejects(store.listPlants('ada', options), expected);
  await assert.rejects(store.listPageJson('ada', options), expected);
});

it('a service ignores an enumerable property that a library has added to every object', async (t) => {
  Object.defineProperty(Object.prototype, 'extend', { enumerable: true, configurable: true, value: () => undefined });
  t.after(() => Reflect.deleteProperty(Object.prototype, 'extend'));
  const handle = createFetchHandler(store, { authenticate: () => ({ user: 'ada', scopes: ['plants:read'] }) });
  const response = await handle(new Request('http://x/plants?limit=1', { headers: { authorization: 'Bearer ada' } }));
  assert.equal(await response.text(), '[]');
});
