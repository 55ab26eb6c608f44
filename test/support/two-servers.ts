import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { StorageAdapter } from '../../src/index.ts';
import { PostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import { expectLinearizable } from '../conformance/checks/concurrency.ts';
import { Client } from '../conformance/client.ts';
import { deliverTo } from '../conformance/exchange.ts';
import type { Deliver } from '../conformance/exchange.ts';
import { pick } from './pick.ts';
import { poolOf } from './postgres.ts';
import { startService } from './service.ts';
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

/** Tests two services over one location, each with its own storage, whose cached pages must not be outdated. */
export function testTwoServers(createLocation: CreateLocation): void {
  it('are linearizable if each request is sent to a random server', async (t) => {
    const open = await createLocation(t);
    const services = [await startService(t, { storage: open() }), await startService(t, { storage: open() })];
    await checkLinearizable(services);
    for (const { faults } of services) assert.deepEqual(faults, []);
  });
}

/**
 * Sends concurrent requests, each to a random service, and checks that the responses are linearizable. Returns how many
 * responses had the status 503.
 */
export async function checkLinearizable(services: readonly Service[]): Promise<number> {
  let failures = 0;
  const deliver: Deliver = async (request) => {
    const exchange = await deliverTo(pick(services).url)(request);
    if (exchange.status === 503) failures++;
    return exchange;
  };
  const client = new Client({ url: '', tokens: { a: 'ada', b: 'bob' }, deliver });
  await expectLinearizable(client);
  return failures;
}
