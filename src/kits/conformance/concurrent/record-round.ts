import type { CheckClient } from '../check-client.ts';
import { NoResponseError } from '../exchange.ts';
import type { Exchange } from '../exchange.ts';
import { expect, expectList } from '../expect.ts';
import { noPlant } from './history.ts';
import type { Operation, Outcome } from './history.ts';

/**
 * The keys of the ids that the clients of a round use. The number is small, so that requests often affect the same
 * plant.
 */
const keys = [0, 1, 2];

/** The number of requests that each client sends in a round. */
export const operationsPerClient = 6;

/** A round of concurrent requests. */
export interface Round {
  readonly operations: readonly Operation[];
  /** The ids of the plants. A key is an index of this array. */
  readonly ids: readonly bigint[];
}

/**
 * Makes clients create, delete and list user A's plants concurrently. All clients use the same few new ids. When the
 * clients have finished, lists the plants once more. When the round begins, no plants with these ids exist.
 *
 * @param listsAll whether some of the requests list all of the user's plants; `false` if the user has so many plants
 *   that such a list may not be atomic
 * @throws {CheckFailure} if a response is wrong in every possible order of the operations.
 */
export async function recordRound(client: CheckClient, clients: number, listsAll: boolean): Promise<Round> {
  client.beginCase();
  const first = client.newId(keys.length);
  const queries = [`after=${first - 1n}&limit=${keys.length}`, ...(listsAll ? ['', 'limit=1000'] : [])];
  const keyOfName = new Map<string, number>();
  const operations: Operation[] = [];

  async function perform(number: number, kind: Operation['kind']): Promise<void> {
    const [key, name] = [pick(keys), client.newName()];
    const id = first + BigInt(key);
    if (kind === 'create') keyOfName.set(name, key);
    const invokedMs = performance.now();
    const exchange = await answered(
      {
        create: () => client.a.create({ id, name }),
        delete: () => client.a.remove(id),
        list: () => client.a.list(pick(queries)),
      }[kind],
    );
    const respondedMs = exchange === undefined ? Infinity : performance.now();
    const outcome = exchange && (await outcomeOf(exchange, kind, keyOfName));
    operations.push({
      kind,
      keys: kind === 'list' ? keys : [key],
      name,
      outcome,
      client: number,
      invokedMs,
      respondedMs,
    });
  }

  async function runClient(number: number): Promise<void> {
    for (let count = 0; count < operationsPerClient; count++) {
      await perform(number, pick(['create', 'create', 'delete', 'list']));
    }
  }

  await Promise.all(Array.from({ length: clients }, (_, number) => runClient(number)));
  await perform(0, 'list');
  return { operations, ids: keys.map((key) => first + BigInt(key)) };
}

/** Sends a request. Returns the exchange, or `undefined` if the outcome of the request is unknown. */
async function answered(send: () => Promise<Exchange>): Promise<Exchange | undefined> {
  try {
    const exchange = await send();
    const { status } = exchange.response;
    return status >= 500 || status === 408 ? undefined : exchange;
  } catch (error) {
    if (error instanceof NoResponseError) return undefined;
    throw error;
  }
}

/** The outcomes that the statuses of writes report. */
const outcomes: Readonly<Record<'create' | 'delete', Readonly<Record<number, Outcome>>>> = {
  create: { 200: 'created', 400: 'taken' },
  delete: { 204: 'deleted', 404: 'absent' },
};

/** Returns the outcome that a response reports for each key of the operation. */
async function outcomeOf(
  exchange: Exchange,
  kind: Operation['kind'],
  keyOfName: ReadonlyMap<string, number>,
): Promise<Outcome[]> {
  if (kind !== 'list') {
    const outcome = outcomes[kind][exchange.response.status];
    expect(outcome !== undefined, exchange, `status ${Object.keys(outcomes[kind]).join(' or ')}`);
    return [outcome];
  }
  const names = (await expectList(exchange)).map(({ name }) => name).filter((name) => keyOfName.has(name));
  const listed = names.map((name) => keyOfName.get(name));
  const isSorted = listed.join() === [...new Set(listed)].toSorted().join();
  expect(isSorted, exchange, 'each plant once, in ascending order of id');
  return keys.map((key) => names[listed.indexOf(key)] ?? noPlant);
}

function pick<T>(from: readonly T[]): T {
  return from[Math.floor(Math.random() * from.length)] as T;
}
