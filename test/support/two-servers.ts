import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import type { StorageAdapter } from '../../src/index.ts';
import { checkConcurrent } from '../../src/kits/conformance/concurrent/check-concurrent.ts';
import type { Send } from '../../src/kits/conformance/exchange.ts';
import { sendByFetch } from '../../src/kits/conformance/send-by-fetch.ts';
import { PostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import { runChecks } from '../kits/conformance/run-checks.ts';
import { startPlantLoad } from './plant-load.ts';
import { poolOf } from './postgres.ts';
import { startService } from './service.ts';
import type { Service } from './service.ts';

/** Creates an empty location, and returns a function that opens a storage on it. */
type CreateLocation = (t: TestContext) => Promise<() => StorageAdapter>;

/** Creates locations in PostgreSQL. `makeDatabase` returns the connection string of an empty database. */
export function postgresLocation(makeDatabase: () => Promise<string>): CreateLocation {
  return async (t) => {
    const connectionString = await makeDatabase();
    return () => new PostgresStorage({ pool: poolOf(t, { connectionString, max: 4 }) });
  };
}

/** Starts two services over one location, each with a storage of its own. */
async function startServices(t: TestContext, createLocation: CreateLocation): Promise<[Service, Service]> {
  const open = await createLocation(t);
  return [await startService(t, { storage: open() }), await startService(t, { storage: open() })];
}

export function testTwoServers(createLocation: CreateLocation): void {
  it('pass every check and are linearizable if clients send each request to the other server', async (t) => {
    const services = await startServices(t, createLocation);
    const [first, second] = services.map(({ url }) => sendByFetch(url)) as [Send, Send];
    let count = 0;
    const { client, results } = await runChecks((request) => (count++ % 2 ? first : second)(request), services[0].url);
    const concurrent = await checkConcurrent(client, { clients: 8, operations: 1000 });
    assert.deepEqual(
      [...results, concurrent].filter(({ outcome }) => outcome !== 'passed'),
      [],
    );
    for (const { faults } of services) assert.deepEqual(faults, []);
  });

  it('list the same plants after random creates and deletes', async (t) => {
    const services = await startServices(t, createLocation);
    const load = startPlantLoad(t, services);
    await load.acknowledgeMore(500);
    await load.assertNothingLost();
    for (const { faults } of services) assert.deepEqual(faults, []);
  });
}
