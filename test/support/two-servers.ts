import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import type { StorageAdapter } from '../../src/index.ts';
import { PostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import { namesIn } from './call.ts';
import type { Answered, Call } from './call.ts';
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
async function startServices(t: TestContext, createLocation: CreateLocation): Promise<Service[]> {
  const open = await createLocation(t);
  return Promise.all(Array.from({ length: 2 }, () => startService(t, { storage: open() })));
}

function assertNoFaults(services: readonly Service[]): void {
  for (const { faults } of services) assert.deepEqual(faults, []);
}

export function testTwoServers(createLocation: CreateLocation): void {
  it('accept exactly one of all concurrent creates of an id, and one of all deletes', async (t) => {
    const services = await startServices(t, createLocation);
    const ids = Array.from({ length: 40 }, (_, id) => id);
    /** Sends a request for each id to each server twice, and asserts that the responses to each id are as expected. */
    const sendAll = async (
      method: string,
      expected: number[],
      of: (id: number) => [target: string, call?: Call],
    ): Promise<void> => {
      const counts = ids.map(async (id) => {
        const sent = await Promise.all([...services, ...services].map(({ call }) => call(method, ...of(id))));
        assert.deepEqual(sent.map(({ status }) => status).sort(), expected);
      });
      await Promise.all(counts);
    };
    for (let round = 0; round < 2; round++) {
      await sendAll('POST', [200, 400, 400, 400], (id) => ['/plants', { body: `{"id":${id},"name":"Fern"}` }]);
      const [first, second] = await Promise.all(services.map((service) => service.call('GET', '/plants')));
      assert.equal((first?.json as unknown[]).length, ids.length);
      assert.equal(first?.text, second?.text);
      await sendAll('DELETE', [204, 404, 404, 404], (id) => [`/plants/${id}`]);
    }
    assertNoFaults(services);
  });

  it('list the same plants after random creates and deletes', async (t) => {
    const services = await startServices(t, createLocation);
    const load = startPlantLoad(t, services);
    await load.acknowledgeMore(500);
    await load.assertNothingLost();
    assertNoFaults(services);
  });

  it('serve the pages of a list alternately through Link', async (t) => {
    const services = await startServices(t, createLocation);
    const ids = Array.from({ length: 2500 }, (_, id) => id);
    await Promise.all(
      services.flatMap(({ store }, n) =>
        ids.filter((id) => id % 2 === n).map((id) => store.createPlant('ada', { id, name: `${id}` })),
      ),
    );
    const names: string[] = [];
    let target: string | undefined = '/plants?limit=300';
    for (let page = 0; target !== undefined; page++) {
      const answered: Answered | undefined = await services[page % 2]?.call('GET', target);
      if (answered !== undefined) names.push(...namesIn(answered));
      target = /<(.*)>/.exec(answered?.headers.get('link') ?? '')?.[1];
    }
    assert.deepEqual(names, ids.map(String));
    const whole = await services[0]?.call('GET', '/plants');
    assert.equal((whole?.json as unknown[]).length, 2500);
  });
}
