import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { listAnswer } from '../../src/http/list.ts';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import { eventuallyEqual } from '../support/eventually.ts';
import { get, RawConnection } from '../support/raw-http.ts';
import { countConnections, describeOnBothFronts, startService } from '../support/service.ts';
import { createPlants } from '../support/stored-plants.ts';
import type { Answer } from '../../src/http/answer.ts';

/** The outcome of reading a list to its end. */
interface Outcome {
  /** The names of the plants that were sent. */
  readonly names: number[];
  /** The id after which the next page begins; `undefined` if no `Link` was sent. */
  readonly next: number | undefined;
  /** Whether the response was cut off. */
  readonly isCut: boolean;
  /** The plants that were created or deleted while the list was read. */
  readonly changed: ReadonlySet<number>;
}

/**
 * Reads a list of plants whose names equal their ids. Before each read, some plants are deleted, or created if they do
 * not exist.
 */
async function readDuringChanges(
  ids: readonly number[],
  changes: readonly (readonly number[])[],
  limit: number | undefined,
  after: number | undefined,
): Promise<Outcome> {
  const storage = new MemoryStorage();
  const store = new PlantStore({ storage, maxCacheBytes: 0 });
  const create = (id: number): Promise<unknown> => store.createPlant('ada', { id, name: `${id}` });
  await Promise.all(ids.map(create));
  const list = storage.list.bind(storage);
  const changed = new Set<number>();
  let reads = 0;
  // Pages are short, so that a long list requires only a few plants.
  storage.list = async (user, range) => {
    for (const id of changes[reads++] ?? []) {
      changed.add(id);
      if (!(await store.deletePlant('ada', id))) await create(id);
    }
    return list(user, { after: range.after, limit: Math.min(range.limit, 3) });
  };
  const range = { limit, after: after === undefined ? undefined : BigInt(after) };
  const answer = await listAnswer(store, { ...range, user: 'ada', path: '/plants', request: { isOpen: true } });
  const { json, isCut } = await readBody(answer);
  const names = isCut ? [] : (JSON.parse(json) as { name: string }[]).map(({ name }) => Number(name));
  const link = answer.headers?.[1];
  return { names, next: link === undefined ? undefined : Number(/after=(\d+)>/.exec(link)?.[1]), isCut, changed };
}

async function readBody({ body = '' }: Answer): Promise<{ json: string; isCut: boolean }> {
  let json = '';
  try {
    for await (const piece of typeof body === 'string' ? [body] : body) json += piece;
    return { json, isCut: false };
  } catch (error) {
    assert.match(String(error), /Plants were created in the range of the list/);
    assert.doesNotMatch(json, /\]$/, 'the list looks complete');
    return { json, isCut: true };
  }
}

const anyId = fc.integer({ min: 0, max: 30 });
const anyIds = fc.uniqueArray(anyId, { maxLength: 25 });
const anyChanges = fc.array(fc.array(anyId, { maxLength: 8 }), { maxLength: 15 });

describe('a list that is read while plants are created and deleted', () => {
  it('contains each unchanged plant of its range once and in order, or is cut off', async () => {
    let [complete, cut] = [0, 0];
    const property = fc.asyncProperty(
      anyIds,
      anyChanges,
      fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
      fc.option(anyId, { nil: undefined }),
      async (ids, changes, limit, after) => {
        const { names, next, isCut, changed } = await readDuringChanges(ids, changes, limit, after);
        if (isCut) cut++;
        else complete++;
        if (changed.size === 0) {
          const expected = ids.filter((id) => id > (after ?? -1)).sort((a, b) => a - b);
          assert.deepEqual([names, isCut], [expected.slice(0, limit), false]);
        }
        assert.ok(!isCut || limit !== undefined, 'an unlimited list has no limit that it could pass');
        if (isCut) return;
        assert.ok(names.length <= (limit ?? Infinity));
        for (const [n, id] of names.entries()) assert.ok(id > (names[n - 1] ?? after ?? -1), 'the order is wrong');
        assert.ok(next === undefined || (names.at(-1) ?? -1) <= next, 'a plant is after the position of the next page');
        const isInRange = (id: number): boolean => id > (after ?? -1) && id <= (next ?? Infinity);
        for (const id of ids) {
          if (!isInRange(id) || changed.has(id)) continue;
          assert.ok(names.includes(id), `plant ${id} is missing in ${String(names)}, up to ${next}`);
        }
        for (const id of names) assert.ok(ids.includes(id) || changed.has(id), `there was no plant ${id}`);
      },
    );
    // A page goes beyond the last plant of the list, then plants are created, and then the page is shortened.
    const shortened = [[5, 0], [[1, 2], [], [6], [], [3, 4]], 5, undefined] as const;
    // All plants are deleted after the end of the list has been found.
    const emptied = [[0, 1, 2, 3], [[], [], [0, 1, 2, 3]], 5, undefined] as const;
    // The last plant of the list is deleted. A later plant takes its place in the page.
    const lastDeleted = [[0, 1, 2, 3, 4], [[], [], [], [3]], 4, undefined] as const;
    const examples = [shortened, emptied, lastDeleted].map((example) => structuredClone(example) as never);
    await fc.assert(property, { numRuns: 1500, examples });
    assert.ok(complete > 500 && cut > 5, `${complete} complete, ${cut} cut off`);
  });
});

/**
 * Starts a service in which ada has the plants 0, 2, 4, ... 98. A page contains ten plants. `beforeRead` is called with
 * the number of each read. For a list with a limit of 30, reads 1 to 3 find the end of the list, and reads 4 to 6 send
 * the list.
 */
async function startWithShortPages<Started>(
  start: (options: { store: PlantStore }) => Promise<Started>,
  beforeRead: (read: number, store: PlantStore) => Promise<unknown> | undefined = () => undefined,
): Promise<Started & { reads: () => number }> {
  const storage = new MemoryStorage();
  const list = storage.list.bind(storage);
  let reads = 0;
  storage.list = async (user, { after, limit }) => {
    await beforeRead(++reads, store);
    return list(user, { after, limit: Math.min(limit, 10) });
  };
  const store = new PlantStore({ storage, maxCacheBytes: 0 });
  const ids = Array.from({ length: 50 }, (_, n) => 2 * n);
  await Promise.all(ids.map((id) => store.createPlant('ada', { id, name: `${id}` })));
  return { ...(await start({ store })), reads: () => reads };
}

describeOnBothFronts('a list whose limit exceeds one page', (startAny) => {
  it('shares at most 4 concurrent reads with other lists', async (t) => {
    const storage = new MemoryStorage();
    const service = await startAny(t, { storage });
    await createPlants(service.store, 2500);
    const list = storage.list.bind(storage);
    let [reading, most] = [0, 0];
    storage.list = async (user, range) => {
      most = Math.max(most, ++reading);
      await sleep(5);
      reading--;
      return list(user, range);
    };
    await Promise.all(Array.from({ length: 20 }, () => service.call('GET', '/plants?limit=2000')));
    assert.ok(most <= 4, `${most} pages were read at once`);
  });

  it('has the same Link for GET and HEAD', async (t) => {
    const service = await startWithShortPages((options) => startAny(t, options));
    for (const [target, link] of [
      ['/plants?limit=30', '</plants?limit=30&after=58>; rel="next"'],
      ['/plants?limit=30&after=20', '</plants?limit=30&after=80>; rel="next"'],
      ['/plants?limit=50', null],
      ['/plants?limit=60', null],
    ] as const) {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers } = await service.call(method, target);
        assert.deepEqual([status, headers.get('link')], [200, link], `${method} ${target}`);
      }
    }
  });

  it('is cut off, with a reported error, if plants are created in its range while it is being sent', async (t) => {
    const service = await startWithShortPages(
      (options) => startAny(t, options),
      (read, store) => (read === 5 ? store.createPlant('ada', { id: 21, name: 'Ivy' }) : undefined),
    );
    const headers = { authorization: 'Bearer ada' };
    const response = await service.send(new Request(`${service.url}/plants?limit=30`, { headers }));
    assert.equal(response.headers.get('link'), '</plants?limit=30&after=58>; rel="next"');
    await assert.rejects(response.text());
    assert.deepEqual(service.faults.map(String), [
      'Error: Plants were created in the range of the list while it was being sent',
    ]);
  });
});

describe('a list whose end is being found', () => {
  it('is no longer read after the client has reset the connection', async (t) => {
    const [reading, resumed] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const service = await startWithShortPages(
      (options) => startService(t, options),
      (read) => {
        if (read !== 2) return undefined;
        reading.resolve(undefined);
        return resumed.promise;
      },
    );
    const connection = await RawConnection.open(t, service.port, get('/plants?limit=40'));
    await reading.promise;
    connection.socket.resetAndDestroy();
    await eventuallyEqual(() => countConnections(service.server), 0);
    resumed.resolve(undefined);
    for (let n = 0; n < 20; n++) await nextTurn();
    assert.equal(service.reads(), 2);
    assert.deepEqual(service.faults, []);
  });
});
