import { inspect, isDeepStrictEqual } from 'node:util';
import type { Write } from '../../src/index.ts';
import { ReferenceStore } from '../../src/testing/plants.ts';
import { pick } from '../support/pick.ts';
import type { Client, Exchange } from './client.ts';
import { createPlant, expectList, expectStatus } from './expect.ts';
import type { Checks } from './expect.ts';

/** An operation of a user. If it took effect, it did so between `invokedMs` and `respondedMs`. */
export interface Operation {
  /** What the client requested: a write, or the list of all plants. */
  readonly request: Write | 'list';
  /**
   * What the response reports: whether the write changed the store, or the listed names. If it is `undefined`, the
   * outcome is unknown, and `respondedMs` is Infinity, because the operation may take effect at any later time.
   */
  readonly outcome: boolean | readonly string[] | undefined;
  readonly invokedMs: number;
  readonly respondedMs: number;
}

/** The search fails after this many states. */
const maxStates = 200_000;

export const user = 'ada';

/** Performs an operation. Returns whether its outcome is possible. */
function perform(store: ReferenceStore, { request, outcome }: Operation): boolean {
  const possible = request === 'list' ? store.list(user).map(({ name }) => name) : store.apply(request);
  return outcome === undefined || isDeepStrictEqual(outcome, possible);
}

/**
 * Returns whether a history of one user is linearizable (Herlihy and Wing, 1990). A history is linearizable if its
 * operations can be put into an order that explains every response. In this order, each operation must follow all
 * operations that ended before it began. At the beginning of a history, no plants are stored.
 *
 * The search uses the algorithm of Wing and Gong (1993) with the memoization of Lowe (2017). The search extends a
 * sequence of operations by one operation at a time. It skips a sequence if another order of the same operations has
 * already led to the same plants.
 */
export function isLinearizable(operations: readonly Operation[]): boolean {
  // A list without a response has no effect, and each one would double the number of states.
  const relevant = operations.filter(({ request, outcome }) => request !== 'list' || outcome !== undefined);
  const all = relevant.map((operation, index) => ({ operation, bit: 1n << BigInt(index) }));
  const visited = new Set<string>();

  /** Returns whether the operations that are not in the bit set `done` can follow those that led to `store`. */
  function canComplete(done: bigint, store: ReferenceStore): boolean {
    const open = all.filter(({ bit }) => (done & bit) === 0n);
    const firstResponseMs = Math.min(...open.map(({ operation }) => operation.respondedMs));
    // Only operations without a response remain, which may never take effect.
    if (firstResponseMs === Infinity) return true;
    const plants = store.scan();
    const state = [done, ...plants.map(({ plant }) => `${plant.id} ${plant.name}`)].join();
    if (visited.has(state)) return false;
    if (visited.size === maxStates) throw new Error(`The search has found no order after ${maxStates} states.`);
    visited.add(state);
    return open.some(({ operation, bit }) => {
      const next = new ReferenceStore(plants);
      return operation.invokedMs <= firstResponseMs && perform(next, operation) && canComplete(done | bit, next);
    });
  }

  return canComplete(0n, new ReferenceStore());
}

const clients = 8;
const operationsPerClient = 6;
/** Only a few ids, so that requests often affect the same plant. */
const idsPerRound = 3;

export const concurrencyChecks: Checks = {
  'concurrent-linearizable MUST process concurrent requests as if they were sent one after another': async (c) => {
    // If every create failed, no outcome would be known, and the search would take minutes.
    await createPlant(c);
    await c.cleanUp();
    await expectLinearizable(c);
  },
};

/** Checks concurrent requests to a server. If a request fails with a 5xx, its outcome is unknown. */
export async function expectLinearizable(c: Client): Promise<void> {
  for (let round = 0; round < 12; round++) {
    const history = await recordRound(c);
    if (!isLinearizable(history)) {
      const sorted = history.toSorted((a, b) => a.invokedMs - b.invokedMs);
      const lines = sorted.map((each) => inspect(each, { breakLength: Infinity }));
      throw new Error(`expected: responses that some order of the requests explains\nreceived:\n${lines.join('\n')}`);
    }
    await c.cleanUp();
  }
}

/** Runs clients that create, delete and list plants with the same ids at the same time. Then lists them once more. */
async function recordRound(c: Client): Promise<Operation[]> {
  const first = c.newId(idsPerRound);
  // Servers may cache first pages only, so some lists have no `after`.
  const queries = ['', 'limit=1000', `after=${first - 1n}&limit=${idsPerRound}`];
  /** The names of this round's plants. If the server fails, plants of earlier rounds may remain. */
  const names = new Set<string>();
  const operations: Operation[] = [];

  /** Performs an operation. The statuses are those of a write that changes the store, and of one that does not. */
  async function record(
    request: Operation['request'],
    send: () => Promise<Exchange>,
    [changed, unchanged]: readonly [number, number] = [200, 200],
  ): Promise<void> {
    const invokedMs = performance.now();
    const exchange = await send();
    const respondedMs = performance.now();
    let outcome: Operation['outcome'];
    if (exchange.status < 500) {
      await expectStatus(exchange, changed, unchanged);
      const listed = request === 'list' ? (await expectList(exchange)).map(({ name }) => name) : undefined;
      outcome = listed?.filter((name) => names.has(name)) ?? exchange.status === changed;
    }
    operations.push({ request, outcome, invokedMs, respondedMs: outcome === undefined ? Infinity : respondedMs });
  }

  const list = (): Promise<void> => record('list', () => c.a.list(pick(queries)));
  const write = async (): Promise<void> => {
    const plant = c.newPlant(first + BigInt(Math.floor(Math.random() * idsPerRound)));
    const { id, name } = plant;
    if (Math.random() < 0.6) {
      names.add(name);
      await record({ kind: 'create', user, plant }, () => c.a.create(plant), [200, 400]);
    } else {
      await record({ kind: 'delete', user, id }, () => c.a.remove(id), [204, 404]);
    }
  };

  const running = Array.from({ length: clients }, async () => {
    for (let count = 0; count < operationsPerClient; count++) await pick([write, write, write, list])();
  });
  // If a client fails, the others still create plants until they have finished.
  await Promise.all(running).finally(() => Promise.allSettled(running));
  await list();
  return operations;
}
