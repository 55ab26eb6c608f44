import { idOf } from '../../../src/core/storage-adapter.ts';
import { pick } from '../../support/pick.ts';
import type { Client } from '../client.ts';
import type { Exchange } from '../exchange.ts';
import { createPlant, expectList, expectStatus } from '../expect.ts';
import type { Checks } from '../expect.ts';
import { checkLinearizable, user } from '../linearizable.ts';
import type { Operation } from '../linearizable.ts';

const rounds = 12;
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
  for (let round = 0; round < rounds; round++) {
    const history = await recordRound(c);
    const verdict = checkLinearizable(history);
    if (verdict !== 'linearizable') {
      const lines = history.toSorted((a, b) => a.invokedMs - b.invokedMs).map(describeOperation);
      const expected = 'expected: responses that some order of the requests explains';
      throw new Error(`${expected}\nreceived: responses that are ${verdict}:\n${lines.join('\n')}`);
    }
    await c.cleanUp();
  }
}

/**
 * Runs clients that create, delete and list plants with the same ids at the same time, and then lists them once more.
 */
async function recordRound(c: Client): Promise<Operation[]> {
  const first = c.newId(idsPerRound);
  // Servers may cache first pages only, so some lists have no `after`.
  const queries = ['', 'limit=1000', `after=${first - 1n}&limit=${idsPerRound}`];
  /** The names of this round's plants. If the server fails, plants of earlier rounds may remain. */
  const names = new Set<string>();
  const operations: Operation[] = [];

  async function record(
    request: Operation['request'],
    send: () => Promise<Exchange>,
    outcomeOf: (exchange: Exchange) => Promise<Operation['outcome']>,
  ): Promise<void> {
    const invokedMs = performance.now();
    const exchange = await send();
    const respondedMs = performance.now();
    const isUnknown = exchange.status >= 500;
    const outcome = isUnknown ? undefined : await outcomeOf(exchange);
    operations.push({ request, outcome, invokedMs, respondedMs: isUnknown ? Infinity : respondedMs });
  }

  const list = (): Promise<void> => record('list', () => c.a.list(pick(queries)), namesIn);
  async function namesIn(exchange: Exchange): Promise<string[]> {
    const listed = (await expectList(exchange)).map(({ name }) => name);
    return listed.filter((name) => names.has(name));
  }

  const write = async (): Promise<void> => {
    const plant = c.newPlant(first + BigInt(Math.floor(Math.random() * idsPerRound)));
    const { id, name } = plant;
    if (Math.random() < 0.6) {
      names.add(name);
      await record({ kind: 'create', user, plant }, () => c.a.create(plant), hasChanged(200, 400));
    } else {
      await record({ kind: 'delete', user, id }, () => c.a.remove(id), hasChanged(204, 404));
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

/** Returns a function that returns whether a write changed the store, according to the status of its response. */
function hasChanged(changed: number, unchanged: number): (exchange: Exchange) => Promise<boolean> {
  return async (exchange) => (await expectStatus(exchange, changed, unchanged)).status === changed;
}

function describeOperation({ request, outcome, invokedMs, respondedMs }: Operation): string {
  const what = request === 'list' ? 'list' : `${request.kind} ${idOf(request)}`;
  const name = request !== 'list' && request.kind === 'create' ? ` ${request.plant.name}` : '';
  return `  ${invokedMs.toFixed(2)} to ${respondedMs.toFixed(2)} ms: ${what}${name}: ${String(outcome)}`;
}
