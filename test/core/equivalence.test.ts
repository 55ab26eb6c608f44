import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { MemoryStorage, PlantStore, PlantStoreError } from '../../src/index.ts';
import type { StorageAdapter, StoredPlant } from '../../src/index.ts';
import { maxInt64, minInt64 } from '../../src/core/model/int64.ts';
import { PostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { PostgresCluster } from '../support/postgres.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const users = ['ada', 'bob'] as const;
type User = (typeof users)[number];

/** Mostly few ids, so that operations affect the same plants. */
const id = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt({ min: -3n, max: 3n }) },
  { weight: 1, arbitrary: fc.constantFrom(minInt64, maxInt64, 2n ** 53n, 2n ** 53n + 1n) },
  { weight: 1, arbitrary: fc.bigInt({ min: minInt64, max: maxInt64 }) },
);
const text = fc.string({ unit: 'binary', maxLength: 20 }).map((string) => string.replaceAll('\0', ''));
const user = fc.constantFrom(...users);

type Operation =
  | { kind: 'create'; user: User; id: bigint; name: string; tag: string | undefined }
  | { kind: 'delete'; user: User; id: bigint }
  | { kind: 'list'; user: User; limit: number | undefined; after: bigint | undefined };

const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });
const create = fc.record({ kind: fc.constant('create'), user, id, name: text, tag: optional(text) });
const remove = fc.record({ kind: fc.constant('delete'), user, id });
const limit = optional(fc.integer({ min: 0, max: 5 }));
const list = fc.record({ kind: fc.constant('list'), user, limit, after: optional(id) });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 3, arbitrary: create },
  { weight: 2, arbitrary: remove },
  { weight: 2, arbitrary: list },
);

/** The outcome of an operation: the code of an error, or what a response over HTTP shows. */
type Outcome = string | boolean | { name: string; tag?: string }[];

const shown = ({ name, tag }: Omit<StoredPlant, 'id'>): { name: string; tag?: string } =>
  tag === undefined ? { name } : { name, tag };

/** A reference implementation: a sorted list for each user. */
class Model {
  readonly #plants = new Map<User, StoredPlant[]>();

  apply(operation: Operation): Outcome {
    const plants = this.#plants.get(operation.user) ?? [];
    const rest = operation.kind === 'list' ? plants : plants.filter((plant) => plant.id !== operation.id);
    const existed = rest.length < plants.length;
    switch (operation.kind) {
      case 'create': {
        if (existed) return 'id_taken';
        const plant = { id: operation.id, ...shown(operation as StoredPlant) };
        this.#plants.set(
          operation.user,
          [...plants, plant].sort((a, b) => (a.id < b.id ? -1 : 1)),
        );
        return [shown(plant)];
      }
      case 'delete':
        this.#plants.set(operation.user, rest);
        return existed;
      case 'list': {
        const { after, limit } = operation;
        return plants
          .filter((plant) => after === undefined || plant.id > after)
          .slice(0, limit)
          .map(shown);
      }
    }
  }
}

async function applyToStore(store: PlantStore, operation: Operation): Promise<Outcome> {
  try {
    switch (operation.kind) {
      case 'create':
        return [shown(await store.createPlant(operation.user, operation))];
      case 'delete':
        return await store.deletePlant(operation.user, operation.id);
      case 'list':
        return (await store.listPlants(operation.user, { limit: operation.limit, after: operation.after })).map(shown);
    }
  } catch (error) {
    if (error instanceof PlantStoreError) return error.code;
    throw error;
  }
}

async function applyToService(service: Service, operation: Operation): Promise<Outcome> {
  const { kind, user: token } = operation;
  if (kind === 'list') {
    const query = [
      operation.limit !== undefined && `limit=${operation.limit}`,
      operation.after !== undefined && `after=${operation.after}`,
    ];
    return (await service.call('GET', `/plants?${query.filter(Boolean).join('&')}`, { token })).json as Outcome;
  }
  if (kind === 'delete') return (await service.call('DELETE', `/plants/${operation.id}`, { token })).status === 204;
  const { name, tag } = operation;
  const body = `{"id":${operation.id},${JSON.stringify({ name, tag }).slice(1)}`;
  const { status, json } = await service.call('POST', '/plants', { token, body });
  if (status === 200) return [json as { name: string }];
  return (json as { error: number }).error === 40003 ? 'id_taken' : `status ${status}`;
}

describe('any sequence of operations', () => {
  let cluster: PostgresCluster;
  before(async () => {
    cluster = await PostgresCluster.start();
  });
  after(() => cluster.remove());

  it('has the same outcomes as the reference with every storage, directly and over HTTP', async (t) => {
    const folder = await temporaryFolder(t);
    const pool = cluster.pool(t);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
        run++;
        const cleanUps: (() => Promise<void> | void)[] = [];
        const scope = {
          after: (cleanUp: () => Promise<void> | void) => {
            cleanUps.push(cleanUp);
          },
        };
        try {
          const storages: StorageAdapter[] = [
            new MemoryStorage(),
            new SqliteStorage(join(folder, `direct-${run}.db`)),
            new PostgresStorage({ pool, schema: cluster.newSchemaName() }),
          ];
          const stores = storages.map((storage) => new PlantStore({ storage }));
          scope.after(async () => {
            await Promise.all(stores.map((store) => store.close()));
          });
          const services = [
            await startService(scope),
            await startService(scope, { storage: new SqliteStorage(join(folder, `served-${run}.db`)) }),
            await startService(scope, { storage: new PostgresStorage({ pool, schema: cluster.newSchemaName() }) }),
          ];
          const model = new Model();
          for (const operation of operations) {
            const expected = model.apply(operation);
            for (const store of stores) assert.deepEqual(await applyToStore(store, operation), expected);
            for (const service of services) assert.deepEqual(await applyToService(service, operation), expected);
          }
        } finally {
          for (const cleanUp of cleanUps) await cleanUp();
        }
      }),
      { numRuns: 30 },
    );
  });
});
