import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { StorageAdapter } from '../../src/index.ts';
import { PostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import { testService } from '../../src/testing.ts';
import { startPlantLoad } from './plant-load.ts';
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

/** Starts two services over one location, each with its own storage. */
async function startServices(t: HasAfter, createLocation: CreateLocation): Promise<[Service, Service]> {
  const open = await createLocation(t);
  return [await startService(t, { storage: open() }), await startService(t, { storage: open() })];
}

export function testTwoServers(createLocation: CreateLocation): void {
  let services: Service[] = [];
  testService('each request is sent to a random server', {
    url: async (t) => {
      services = await startServices(t, createLocation);
      t.after(() => {
        for (const { faults } of services) assert.deepEqual(faults, []);
      });
      return services[0]?.url ?? '';
    },
    tokens: { a: 'ada', b: 'bob', readOnly: 'ada-reads' },
    fetch: (request) => sendToOne(services, request),
  });

  it('list the same plants after random create and delete requests', async (t) => {
    const started = await startServices(t, createLocation);
    const load = startPlantLoad(t, started);
    await load.acknowledgeMore(500);
    await load.assertNothingLost();
    for (const { faults } of started) assert.deepEqual(faults, []);
  });
}
