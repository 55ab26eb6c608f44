import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { listAnswer } from '../../src/http/list.ts';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import { eventuallyEqual } from '../support/eventually.ts';
import { get, RawConnection } from '../support/raw-http.ts';
import { countConnections, describeOnBothFronts, startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { createPlants } from '../support/stored-plants.ts';
import type { HasAfter } from '../support/temporary-folder.ts';
import type { Answer } from '../../src/http/answer.ts';

/** Plants that are created or deleted before a read. A plant that exists is deleted. */
type Toggles = readonly number[];

/** The outcome of reading a list to its end. */
interface Outcome {
  /** The names of the plants that were sent. */
  readonly names: number[];
  /** The position at which the next page begins; `undefined` if no `Link` was sent. */
  readonly next: number | undefined;
  /** Whether the response was cut off. */
  readonly isCut: boolean;
}

/** A store of ada's plants, in which plants are created and deleted before each read. The name of a plant is its id. */
class ChangingStore {
  readonly store: PlantStore;
  readonly existing: Set<number>;
  /** The plants that have been created or deleted since the start. */
  readonly changed = new Set<number>();
  reads = 0;

  private constructor(ids: readonly number[], changes: readonly Toggles[]) {
    this.existing = new Set(ids);
    const storage = new MemoryStorage();
    const list = storage.list.bind(storage);
    // Pages are short, so that few plants are enough for a long list.
    storage.list = async (user, { after, limit }) => {
      for (const id of changes[this.reads++] ?? []) await this.#toggle(id);
      return list(user, { after, limit: Math.min(limit, 3) });
    };
    this.store = new PlantStore({ storage, maxCacheBytes: 0 });
  }

  static async open(ids: readonly number[], changes: readonly Toggles[]): Promise<ChangingStore> {
    const opened = new ChangingStore(ids, changes);
    await Promise.all(ids.map((id) => opened.store.createPlant('ada', { id, name: `${id}` })));
    return opened;
  }

  async #toggle(id: number): Promise<void> {
    this.changed.add(id);
    if (this.existing.delete(id)) {
      await this.store.deletePlant('ada', id);
    } else {
      this.existing.add(id);
      await this.store.createPlant('ada', { id, name: `${id}` });
    }
  }

  async request(limit: number | undefined, after: number | undefined): Promise<Outcome> {
    const range = { limit, after: after === undefined ? undefined : BigInt(after) };
    const answer = await listAnswer(this.store, { ...range, user: 'ada', path: '/plants', request: { isOpen: true } });
    const { json, isCut } = await readBody(answer);
    const names = isCut ? [] : (JSON.parse(json) as { name: string }[]).map(({ name }) => Number(name));
    const link = answer.headers?.[1];
    return { names, next: link === undefined ? undefined : Number(/after=(\d+)>/.exec(link)?.[1]), isCut };
  }
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
  it('contains every other plant of its range once, in order, or is cut off', async () => {
    let [complete, cut] = [0, 0];
    const property = fc.asyncProperty(
      anyIds,
      anyChanges,
      fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
      fc.option(anyId, { nil: undefined }),
      async (ids, changes, limit, after) => {
        const plants = await ChangingStore.open(ids, changes);
        const { names, next, isCut } = await plants.request(limit, after);
        if (isCut) cut++;
        else complete++;
        if (plants.changed.size === 0) {
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
          if (!isInRange(id) || plants.changed.has(id)) continue;
          assert.ok(names.includes(id), `plant ${id} is missing in ${String(names)}, up to ${next}`);
        }
        for (const id of names) assert.ok(ids.includes(id) || plants.changed.has(id), `there was no plant ${id}`);
      },
    );
    // The page after plant 2 goes beyond the last plant, then plants are created, then the page is shortened.
    const shortened = [[5, 0], [[1, 2], [], [6], [], [3, 4]], 5, undefined] as const;
    await fc.assert(property, { numRuns: 1500, examples: [structuredClone(shortened) as never] });
    assert.ok(complete > 500 && cut > 5, `${complete} complete, ${cut} cut off`);
  });
});

/**
 * Starts a service in which ada has the plants 0, 2, 4, ... 98. A page contains ten of them. `beforeRead` is called with
 * the number of each read. A list with a limit of 30 is found in the reads 1 to 3, and sent in the reads 4 to 6.
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

describeOnBothFronts('a list with a limit over one page', (startAny) => {
  it('is read in turns with the pages of other users', async (t) => {
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

  it('is cut off and reported if plants are created in its range while it is sent', async (t) => {
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
  /** Requests a list whose second read waits until the test calls `resume`. */
  async function requestHeld(t: HasAfter): Promise<{
    service: Service & { reads: () => number };
    connection: RawConnection;
    resume: () => void;
  }> {
    const [reading, resumed] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const service = await startWithShortPages(
      (options) => startService(t, options),
      (read) => {
        if (read !== 2) return undefined;
        reading.resolve(undefined);
        return resumed.promise;
      },
    );
    const text = get('/plants?limit=40', 'Connection: close\r\n');
    const connection = await RawConnection.open(t, service.port, text);
    await reading.promise;
    return {
      service,
      connection,
      resume: () => {
        resumed.resolve(undefined);
      },
    };
  }

  it('is not read further if the client resets its connection', async (t) => {
    const { service, connection, resume } = await requestHeld(t);
    connection.socket.resetAndDestroy();
    await eventuallyEqual(() => countConnections(service.server), 0);
    resume();
    for (let n = 0; n < 20; n++) await nextTurn();
    assert.equal(service.reads(), 2);
    assert.deepEqual(service.faults, []);
  });

  it('is sent if the client has only ended its side of the connection', async (t) => {
    const { connection, resume } = await requestHeld(t);
    connection.socket.allowHalfOpen = true;
    connection.socket.end();
    resume();
    const received = await connection.untilClosed();
    assert.match(received, /\r\nLink: <\/plants\?limit=40&after=78>; rel="next"\r\n/);
    assert.match(received, /\]\r\n0\r\n\r\n$/);
  });
});
