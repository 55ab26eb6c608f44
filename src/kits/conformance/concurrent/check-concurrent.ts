import type { CheckClient } from '../check-client.ts';
import { NoResponseError } from '../exchange.ts';
import type { Exchange } from '../exchange.ts';
import { CheckFailure, expect, expectList, namesOf, NotRun } from '../expect.ts';
import { runCase } from '../run-cases.ts';
import type { CheckResult } from '../run-cases.ts';
import { describeContradiction, findContradiction } from './contradiction.ts';
import { noPlant } from './history.ts';
import type { Operation, Outcome } from './history.ts';
import { checkLinearizable } from './linearizable.ts';

/**
 * A list of at most this many plants must be an atomic snapshot. A longer list may contain plants as they were at
 * different times, so the checks do not request longer lists.
 */
const maxAtomicPlants = 500;

/** The number of requests that each client sends in a round. */
const operationsPerClient = 6;

/** The number of ids that the clients of a round use; only a few, so that requests often affect the same plant. */
const idsPerRound = 3;

const check: CheckResult['check'] = {
  id: 'concurrent-linearizable',
  level: 'MUST',
  name: 'MUST process concurrent requests as if they were sent one after another',
  source: 'Plant Store interface: consistency',
};

interface ConcurrentOptions {
  /** The number of requests that are in flight at the same time, 1 or more. */
  readonly clients: number;
  /** The total number of requests, 1 or more. The number is rounded up to complete rounds. */
  readonly operations: number;
}

/** Runs the check of concurrent requests. */
export async function checkConcurrent(client: CheckClient, options: ConcurrentOptions): Promise<CheckResult> {
  return runCase({ ...check, run: () => expectLinearizable(client, options) }, client);
}

/**
 * Checks that the operations on a user's plants are linearizable. In each round, clients concurrently send random
 * requests. After each round, searches for an order of the requests that explains all responses.
 */
async function expectLinearizable(
  client: CheckClient,
  { clients, operations: total }: ConcurrentOptions,
): Promise<void> {
  const rounds = Math.ceil(total / (clients * operationsPerClient));
  const listsAll = (await expectList(client.a.list(`limit=${maxAtomicPlants + 1}`))).length <= maxAtomicPlants;
  let undecided = 0;
  for (let number = 0; number < rounds; number++) {
    const operations = await recordRound(client, clients, listsAll);
    const verdict = checkLinearizable(operations);
    if (verdict === 'not linearizable') {
      const expected = 'an order of the requests that explains all responses';
      const details = describeContradiction(findContradiction(operations));
      throw new CheckFailure({ expected, received: 'a contradiction', details });
    }
    if (verdict === 'undecided') undecided++;
    await client.cleanUp();
  }
  if (undecided > 0) throw new NotRun(`The search gave up in ${undecided} of ${rounds} rounds.`);
}

/**
 * Runs clients that concurrently create, delete and list user A's plants. All clients use the same new ids. When the
 * clients have finished, lists the plants once more.
 *
 * @param listsAll whether some of the requests list all of the user's plants; `false` if the user has so many plants
 *   that such a list might not be atomic
 * @throws {CheckFailure} if a response is wrong in every possible order of the operations.
 */
async function recordRound(client: CheckClient, clients: number, listsAll: boolean): Promise<Operation[]> {
  client.beginCase();
  const first = client.newId(idsPerRound);
  const all = Array.from({ length: idsPerRound }, (_, index) => first + BigInt(index));
  const queries = [`after=${first - 1n}&limit=${idsPerRound}`, ...(listsAll ? ['', 'limit=1000'] : [])];
  const idOfName = new Map<string, bigint>();
  const operations: Operation[] = [];

  async function perform(number: number, kind: Operation['kind']): Promise<void> {
    const [id, name] = [pick(all), client.newName()];
    if (kind === 'create') idOfName.set(name, id);
    const send = {
      create: () => client.a.create({ id, name }),
      delete: () => client.a.remove(id),
      list: () => client.a.list(pick(queries)),
    }[kind];
    const invokedMs = performance.now();
    const exchange = await answered(send());
    const respondedMs = exchange === undefined ? Infinity : performance.now();
    const ids = kind === 'list' ? all : [id];
    const outcome = exchange && (await outcomeOf(exchange, kind, ids, idOfName));
    operations.push({ kind, ids, name, outcome, client: number, invokedMs, respondedMs });
  }

  async function runClient(_: unknown, number: number): Promise<void> {
    for (let count = 0; count < operationsPerClient; count++) {
      await perform(number, pick(['create', 'create', 'delete', 'list']));
    }
  }

  const running = Array.from({ length: clients }, runClient);
  // If a client fails, the others still create plants until they have finished.
  await Promise.all(running).finally(() => Promise.allSettled(running));
  await perform(0, 'list');
  return operations;
}

/** Returns the exchange, or `undefined` if the outcome of the request is unknown. */
async function answered(sent: Promise<Exchange>): Promise<Exchange | undefined> {
  try {
    const exchange = await sent;
    const { status } = exchange.response;
    return status >= 500 || status === 408 ? undefined : exchange;
  } catch (error) {
    if (error instanceof NoResponseError) return undefined;
    throw error;
  }
}

/** The outcome that each response status of a write reports. */
const outcomes: Readonly<Record<'create' | 'delete', Readonly<Record<number, Outcome>>>> = {
  create: { 200: 'created', 400: 'taken' },
  delete: { 204: 'deleted', 404: 'absent' },
};

/** Returns the outcome that a response reports for each of the ids. */
async function outcomeOf(
  exchange: Exchange,
  kind: Operation['kind'],
  ids: readonly bigint[],
  idOfName: ReadonlyMap<string, bigint>,
): Promise<Outcome[]> {
  if (kind !== 'list') {
    const outcome = outcomes[kind][exchange.response.status];
    expect(outcome !== undefined, exchange, `status ${Object.keys(outcomes[kind]).join(' or ')}`);
    return [outcome];
  }
  const names = namesOf(await expectList(exchange)).filter((name) => idOfName.has(name));
  const listed = names.map((name) => idOfName.get(name));
  const isSorted = listed.join() === ids.filter((id) => listed.includes(id)).join();
  expect(isSorted, exchange, 'each plant once, in ascending order of id');
  return ids.map((id) => names[listed.indexOf(id)] ?? noPlant);
}

function pick<T>(from: readonly T[]): T {
  return from[Math.floor(Math.random() * from.length)] as T;
}
