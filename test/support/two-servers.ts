import assert from 'node:assert/strict';
import type { StorageAdapter } from '../../src/index.ts';
import { PostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import { testService } from '../../src/testing.ts';
import { poolOf } from './postgres.ts';
import { sendToOne, startService } from './service.ts';
import type { Service } from './service.ts';
import type { HasAfter } from './temporary-folder.ts';

/** Creates an empty location, and returns a function that opens a storage there. */
type CreateLocation = (t: HasAfter) => Promise<() => StorageAdapter>;

/** Creates locations in PostgreSQL. `makeDatabase` returns the connection string of an empty database. */
export function postgresLocation(makeDatabase: () => Promise<string>): CreateLocation {
  return async (t) => {
    const connectionString = await makeDatabase();
    return () => new PostgresStorage({ pool: poolOf(t, { connectionString, max: 4 }) });
  };
}

/** Tests two services over one location, each with its own storage. */
export function testTwoServers(createLocation: CreateLocation): void {
  let services: Service[] = [];
  testService('each request is sent to a random server', {
    url: async (t) => {
      const open = await createLocation(t);
      services = [await startService(t, { storage: open() }), await startService(t, { storage: open() })];
      t.after(() => {
        for (const { faults } of services) assert.deepEqual(faults, []);
      });
      return services[0]?.url ?? '';
    },
    tokens: { a: 'ada', b: 'bob', readOnly: 'ada-reads' },
    fetch: (request) => sendToOne(services, request),
  });
}
