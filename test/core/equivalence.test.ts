import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { MemoryStorage, PlantStore, PlantStoreError } from '../../src/index.ts';
import type { StorageAdapter, Plant } from '../../src/index.ts';
import { maxInt64, minInt64 } from '../../src/core/model/int64.ts';
import { PostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { PostgresCluster } from '../support/postgres.ts';
import { ReferenceStore } from '../support/reference-store.ts';
import { CleanUp, temporaryFolder } from '../support/temporary-folder.ts';

const users = ['ada', 'bob'] as const;
type User = (typeof users)[number];

/** Mostly generates one of a few ids, so that several operations affect the same plant. */
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

/** The outcome of an operation: an error code, whether a plant was deleted, or the created or listed plants. */
type Outcome = string | boolean | Plant[];

function applyToReference(store: ReferenceStore, operation: Operation): Outcome {
  const { kind, user } = operation;
  if (kind === 'list') return store.list(user, operation);
  if (kind === 'delete') return store.delete(user, operation.id);
  const { id, name, tag } = operation;
  const plant = tag === undefined ? { id, name } : { id, name, tag };
  return store.create(user, plant) ? [plant] : 'id_taken';
}

async function applyToStore(store: PlantStore, operation: Operation): Promise<Outcome> {
  try {
    switch (operation.kind) {
      case 'create':
        return [await store.createPlant(operation.user, operation)];
      case 'delete':
        return await store.deletePlant(operation.user, operation.id);
      case 'list':
        return await store.listPlants(operation.user, { limit: operation.limit, after: operation.after });
    }
  } catch (error) {
    if (error instanceof PlantStoreError) return error.code;
    throw error;
  }
}

describe('any sequence of operations', () => {
  let cluster: PostgresCluster;
  before(async () => {
    cluster = await PostgresCluster.start();
  });
  after(() => cluster.remove());

  it('has the outcomes of the reference implementation on every storage', async (t) => {
    const folder = await temporaryFolder(t);
    const pool = cluster.pool(t);
    let files = 0;
    const newStorages = (): StorageAdapter[] => [
      new MemoryStorage(),
      new SqliteStorage(join(folder, `${files++}.db`)),
      new PostgresStorage({ pool, table: cluster.newTable() }),
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
        await using scope = new CleanUp();
        const stores = newStorages().map((storage) => new PlantStore({ storage }));
        for (const store of stores) scope.after(() => store.close());
        const reference = new ReferenceStore();
        for (const operation of operations) {
          const expected = applyToReference(reference, operation);
          const ofStores = await Promise.all(stores.map((store) => applyToStore(store, operation)));
          for (const outcome of ofStores) assert.deepEqual(outcome, expected);
        }
      }),
      { numRuns: 30 },
    );
  });
});
