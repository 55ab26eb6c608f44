import type { Client } from '../client.ts';
import type { Exchange } from '../exchange.ts';
import { createPlant, expect, expectList } from '../expect.ts';
import type { Checks } from '../expect.ts';
import { describeHistory, noPlant } from '../history.ts';
import type { Operation, Outcome } from '../history.ts';
import { checkLinearizable } from '../linearizable.ts';

const rounds = 20;
const clients = 8;
const operationsPerClient = 6;
/** Only a few ids, so that requests often affect the same plant. */
const idsPerRound = 3;

export const concurrencyChecks: Checks = {
  'concurrent-linearizable MUST process concurrent requests as if they were sent one after another': async (c) => {
    // If every create failed, no outcome would be known, and the search would take minutes.
    await createPlant(c);
    for (let round = 0; round < rounds; round++) {
      const history = await recordRound(c);
      const verdict = checkLinearizable(history);
      if (verdict !== 'linearizable') {
        const expected = 'expected: responses that some order of the requests explains';
        throw new Error(`${expected}\nreceived: responses that are ${verdict}:\n${describeHistory(history)}`);
      }
      await c.cleanUp();
    }
  },
};

/**
 * Runs clients that create, delete and list plants with the same ids at the same time, and then lists them once more.
 */
async function recordRound(c: Client): Promise<Operation[]> {
  const first = c.newId(idsPerRound);
  const all = Array.from({ length: idsPerRound }, (_, index) => first + BigInt(index));
  // Servers may cache first pages only, so some lists have no `after`.
  const queries = ['', 'limit=1000', `after=${first - 1n}&limit=${idsPerRound}`];
  const idOfName = new Map<string, bigint>();
  const operations: Operation[] = [];

  async function perform(kind: Operation['kind']): Promise<void> {
    const plant = c.newPlant(pick(all));
    const { id, name } = plant;
    if (kind === 'create') idOfName.set(name, id);
    const send = {
      create: () => c.a.create(plant),
      delete: () => c.a.remove(id),
      list: () => c.a.list(pick(queries)),
    }[kind];
    const invokedMs = performance.now();
    const exchange = await send();
    const isUnknown = exchange.status >= 500;
    const respondedMs = isUnknown ? Infinity : performance.now();
    const ids = kind === 'list' ? all : [id];
    const outcome = isUnknown ? undefined : await outcomeOf(exchange, kind, ids, idOfName);
    operations.push({ kind, ids, name, outcome, invokedMs, respondedMs });
  }

  const running = Array.from({ length: clients }, async () => {
    for (let count = 0; count < operationsPerClient; count++) {
      await perform(pick(['create', 'create', 'delete', 'list']));
    }
  });
  // If a client fails, the others still create plants until they have finished.
  await Promise.all(running).finally(() => Promise.allSettled(running));
  await perform('list');
  return operations;
}

const outcomes: Readonly<Record<'create' | 'delete', Readonly<Record<number, Outcome>>>> = {
  create: { 200: 'created', 400: 'taken' },
  delete: { 204: 'deleted', 404: 'absent' },
};

async function outcomeOf(
  exchange: Exchange,
  kind: Operation['kind'],
  ids: readonly bigint[],
  idOfName: ReadonlyMap<string, bigint>,
): Promise<Outcome[]> {
  if (kind !== 'list') {
    const outcome = outcomes[kind][exchange.status];
    expect(outcome !== undefined, exchange, `status ${Object.keys(outcomes[kind]).join(' or ')}`);
    return [outcome];
  }
  const names = (await expectList(exchange)).map(({ name }) => name).filter((name) => idOfName.has(name));
  const listed = names.map((name) => idOfName.get(name));
  const isSorted = listed.join() === ids.filter((id) => listed.includes(id)).join();
  expect(isSorted, exchange, 'each plant once, in ascending order of id');
  return ids.map((id) => names[listed.indexOf(id)] ?? noPlant);
}

function pick<T>(from: readonly T[]): T {
  return from[Math.floor(Math.random() * from.length)] as T;
}
