import type { CheckClient } from '../check-client.ts';
import { NoResponseError } from '../exchange.ts';
import type { Exchange } from '../exchange.ts';
import { CheckFailure, expectList } from '../expect.ts';
import type { Action, Content, Operation } from './history.ts';

/**
 * The number of ids that the clients of a round use. The number is small, so that requests often affect the same plant.
 */
const keyCount = 3;

/** The number of requests that each client sends in a round. */
export const operationsPerClient = 6;

/** A round of concurrent requests. */
export interface Round {
  readonly operations: readonly Operation[];
  /** The ids of the plants. A key is an index of this array. */
  readonly ids: readonly bigint[];
}

/**
 * Makes clients create, delete and list plants of user A concurrently. All clients use the same few new ids. When the
 * clients have finished, lists the plants once more. When the round begins, no plants with these ids exist.
 *
 * @param listsAll whether some of the requests list all plants of the user; `false` if the user has so many plants that
 *   such a list may not be atomic
 * @throws {CheckFailure} if a response is wrong in every possible order of the operations.
 */
export async function recordRound(client: CheckClient, clients: number, listsAll: boolean): Promise<Round> {
  client.beginCase();
  const first = client.newId(keyCount);
  const ids = Array.from({ length: keyCount }, (_, key) => first + BigInt(key));
  const queries = [`after=${first - 1n}&limit=${keyCount}`, ...(listsAll ? ['', 'limit=1000'] : [])];
  const keyOfName = new Map<string, number>();
  const operations: Operation[] = [];

  async function perform(number: number, kind: Action['kind'], key: number): Promise<void> {
    const id = ids[key] ?? first;
    const name = client.newName();
    if (kind === 'create') keyOfName.set(name, key);
    const send = {
      create: () => client.a.create({ id, name }),
      delete: () => client.a.remove(id),
      list: () => client.a.list(pick(queries)),
    }[kind];
    const invokedMs = performance.now();
    const exchange = await answered(send);
    const responseMs = performance.now();
    const action = exchange === undefined ? undefined : await toAction(exchange, kind, key, name, keyOfName);
    const unknown = { kind, key, name, outcome: undefined } as Action;
    const respondedMs = action === undefined ? Infinity : responseMs;
    operations.push({ ...(action ?? unknown), client: number, invokedMs, respondedMs });
  }

  async function runClient(number: number): Promise<void> {
    for (let count = 0; count < operationsPerClient; count++) {
      await perform(number, pick(['create', 'create', 'delete', 'list']), Math.floor(Math.random() * keyCount));
    }
  }

  await Promise.all(Array.from({ length: clients }, (_, number) => runClient(number)));
  await perform(0, 'list', 0);
  return { operations, ids };
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

async function toAction(
  exchange: Exchange,
  kind: Action['kind'],
  key: number,
  name: string,
  keyOfName: ReadonlyMap<string, number>,
): Promise<Action> {
  const { status } = exchange.response;
  switch (kind) {
    case 'create':
      if (status === 200) return { kind, key, name, outcome: 'created' };
      if (status === 400) return { kind, key, name, outcome: 'taken' };
      throw new CheckFailure('status 200 or 400', exchange);
    case 'delete':
      if (status === 204) return { kind, key, outcome: 'deleted' };
      if (status === 404) return { kind, key, outcome: 'absent' };
      throw new CheckFailure('status 204 or 404', exchange);
    case 'list':
      return { kind, outcome: await contentsOf(exchange, keyOfName) };
  }
}

/** Returns the content of every key, as reported by the response to a list request. */
async function contentsOf(
  exchange: Exchange,
  keyOfName: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<number, Content>> {
  const names = (await expectList(exchange)).map(({ name }) => name);
  const contents = new Map<number, Content>(Array.from({ length: keyCount }, (_, key) => [key, undefined]));
  let last = -1;
  for (const name of names) {
    const key = keyOfName.get(name);
    if (key === undefined) continue;
    if (key <= last) throw new CheckFailure('each plant once, in ascending order of id', exchange);
    contents.set(key, name);
    last = key;
  }
  return contents;
}

function pick<T>(from: readonly [T, ...T[]] | readonly T[]): T {
  return from[Math.floor(Math.random() * from.length)] as T;
}
