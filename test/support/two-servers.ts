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

/** Creates an empty location, and returns a function that opens a storage there. */
type CreateLocation = (t: TestContext) => Promise<() => StorageAdapter>;

/** Creates locations in PostgreSQL. `makeDatabase` returns the connection string of an empty database. */
export function postgresLocation(makeDatabase: () => Promise<string>): CreateLocation {
  return async (t) => {
    const connectionString = await makeDatabase();
    return () => new PostgresStorage({ pool: poolOf(t, { connectionString, max: 4 }) });
  };
}

/** Starts two services over one location, each with its own storage. */
async function startServices(t: TestContext, createLocation: CreateLocation): Promise<[Service, Service]> {
  const open = await createLocation(t);
  return [await startService(t, { storage: open() }), await startService(t, { storage: open() })];
}

export function testTwoServers(createLocation: CreateLocation): void {
  it('pass the plant and list checks and are linearizable if each request is sent to a random server', async (t) => {
    const services = await startServices(t, createLocation);
    const [first, second] = services.map(({ url }) => sendByFetch(url)) as [Send, Send];
    const send: Send = (request) => (Math.random() < 0.5 ? first : second)(request);
    const groups = ['create-', 'taken-id', 'delete-', 'isolation', 'after-', 'link-'];
    const { client, results } = await runChecks(send, services[0].url, groups);
    const concurrent = await checkConcurrent(client, { clients: 8, operations: 1000 });
    assert.deepEqual(
      [...results, concurrent].filter(({ outcome }) => outcome !== 'passed'),
      [],
    );
    for (const { faults } of services) assert.deepEqual(faults, []);
  });

  it('list the same plants after random create and delete requests', async (t) => {
    const services = await startServices(t, createLocation);
    const load = startPlantLoad(t, services);
    await load.acknowledgeMore(500);
    await load.assertNothingLost();
    for (const { faults } of services) assert.deepEqual(faults, []);
  });
}
