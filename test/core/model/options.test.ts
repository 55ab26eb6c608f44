import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createRequestListener } from '../../../src/http.ts';
import { createTokenFileAuthenticator } from '../../../src/tokens.ts';
import { issueToken } from '../../../src/tokens/issue.ts';
import { MemoryStorage, PlantStore } from '../../../src/index.ts';
import type { ListOptions } from '../../../src/index.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const store = new PlantStore({ storage: new MemoryStorage() });
const pool = { query: () => Promise.resolve({ rows: [], rowCount: 0 }) };

/** Classes and functions that accept an options object. test/http/options.test.ts tests those of plant-store/http. */
const owners: Readonly<Record<string, (options: never) => unknown>> = {
  PlantStore: (options) => new PlantStore(options),
  SqliteStorage: (options) => new SqliteStorage('never-created.db', options),
  PostgresStorage: (options) => new PostgresStorage(options),
  createTokenFileAuthenticator: (options) => createTokenFileAuthenticator('never-read.json', options),
};

const storage = new MemoryStorage();
const withoutScan = Object.assign(new MemoryStorage(), { scan: undefined });
type WrongOptions = [owner: string, options: object, message: string | RegExp];
const wrongOptions: WrongOptions[] = [
  ['PlantStore', { storage: null }, 'storage must be a storage adapter: it has no commit'],
  ['PlantStore', { storage: withoutScan }, 'storage must be a storage adapter: it has no scan'],
  ['PlantStore', { storage, maxPendingWrites: 0 }, 'maxPendingWrites must be an integer of 1 or more'],
  ['PlantStore', { storage, maxPendingWrites: 2 ** 53 }, 'maxPendingWrites must be an integer of 1 or more'],
  ['PlantStore', { storage, maxCacheBytes: 1.5 }, 'maxCacheBytes must be an integer of 0 or more'],
  ['SqliteStorage', { busyTimeoutMs: -1 }, 'busyTimeoutMs must be an integer from 0 to 2147483647'],
  ['SqliteStorage', { busyTimeoutMs: 2 ** 31 }, 'busyTimeoutMs must be an integer from 0 to 2147483647'],
  ['SqliteStorage', { commitThread: null }, 'commitThread must be true or false'],
  ...[{ pool: undefined }, { pool: {} }].map((options): WrongOptions => ['PostgresStorage', options, /^pool must be/]),
  ...['', 7, 'a\0b', 'é'.repeat(32)].map((table): WrongOptions => [
    'PostgresStorage',
    { pool, table },
    /^table must be/,
  ]),
  ['PostgresStorage', { pool, schema: '' }, /^schema must be/],
  ['PostgresStorage', { pool, createTable: 'no' }, /^createTable must be/],
  ['createTokenFileAuthenticator', { onWarning: 'console.error' }, 'onWarning must be a function'],
];

describe('options', () => {
  for (const [owner, take] of Object.entries(owners)) {
    it(`of ${owner} are rejected with a TypeError if one is unknown or if they are not an object`, () => {
      for (const name of ['maxBodySize', 'toString', '__proto_']) {
        const message = new RegExp(`^\\w+ has no option ${name}\\. Its options are \\w+(?:, \\w+)*$`);
        assert.throws(() => take({ [name]: 1 } as never), { name: 'TypeError', message });
      }
      const required = owner === 'SqliteStorage' || owner === 'createTokenFileAuthenticator' ? [] : [undefined];
      for (const options of [...required, null, 5, 'memory']) {
        const expected = { name: 'TypeError', message: /^The options of \w+ must be an object$/ };
        assert.throws(() => take(options as never), expected);
      }
    });
  }

  it('with an invalid value are rejected with a TypeError that names the option and its range', () => {
    for (const [owner, options, message] of wrongOptions) {
      assert.throws(() => owners[owner]?.(options as never), { name: 'TypeError', message });
    }
  });

  // The compiler also checks that the types permit `undefined`.
  it('can be undefined unless they are required', async (t) => {
    const folder = await temporaryFolder(t);
    const path = join(folder, 'tokens.json');
    issueToken(path, { user: 'ada' });
    const storage = new SqliteStorage(join(folder, 'a.db'), { busyTimeoutMs: undefined, commitThread: undefined });
    await new PlantStore({ storage, maxPendingWrites: undefined, maxCacheBytes: undefined }).close();
    new PostgresStorage({ pool, schema: undefined, table: undefined, createTable: undefined });
    createTokenFileAuthenticator(path, { onWarning: undefined });
    createRequestListener(store, {
      authenticate: () => null,
      maxBodyBytes: undefined,
      maxInFlight: undefined,
      basePath: undefined,
      corsOrigin: undefined,
      trustedProxies: undefined,
      onError: undefined,
    });
    assert.deepEqual(await store.listPlants('ada', { limit: undefined, after: undefined }), []);
  });

  it('of a list request are rejected with a TypeError that names the option if one is unknown', async () => {
    const options = { offset: 5 } as ListOptions;
    const message = 'a list request has no option offset. Its options are after, limit';
    await assert.rejects(store.listPlants('ada', options), { name: 'TypeError', message });
    await assert.rejects(store.listPageJson('ada', options), { name: 'TypeError', message });
  });
});
