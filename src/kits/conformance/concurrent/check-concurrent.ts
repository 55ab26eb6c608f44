import type { CheckClient } from '../check-client.ts';
import { expectList } from '../expect.ts';
import { failureOf } from '../run-cases.ts';
import type { CheckResult } from '../run-cases.ts';
import { describeContradiction, findContradiction } from './contradiction.ts';
import { checkLinearizable } from './linearizable.ts';
import { operationsPerClient, recordRound } from './record-round.ts';

/**
 * The maximum number of plants in a list that must be an atomic snapshot. A longer list may contain plants as they were
 * at different times, so the checks do not request longer lists.
 */
const maxAtomicPlants = 500;

const check: CheckResult['check'] = {
  id: 'concurrent-linearizable',
  level: 'MUST',
  name: 'MUST process concurrent requests as if they were sent one after another',
  source: 'Plant Store interface: consistency',
};

/** Options of {@link checkConcurrent}. */
export interface ConcurrentOptions {
  /** The number of requests that are in flight at the same time, 1 or more. */
  readonly clients: number;
  /** The total number of requests, 1 or more. The number is rounded up to complete rounds. */
  readonly operations: number;
}

/**
 * Checks that the operations on a user's plants are linearizable. In each round, clients concurrently send random
 * requests. After each round, a search looks for an order of the requests that explains all responses.
 */
export async function checkConcurrent(
  client: CheckClient,
  { clients, operations }: ConcurrentOptions,
): Promise<CheckResult> {
  const rounds = Math.ceil(operations / (clients * operationsPerClient));
  let undecided = 0;
  try {
    const listsAll = (await expectList(client.a.list(`limit=${maxAtomicPlants + 1}`))).length <= maxAtomicPlants;
    for (let number = 0; number < rounds; number++) {
      const round = await recordRound(client, clients, listsAll);
      const verdict = checkLinearizable(round.operations);
      if (verdict === 'not linearizable') {
        const details = describeContradiction(findContradiction(round.operations), round.ids);
        const expected = 'an order of the requests that explains all responses';
        return { check, outcome: 'failed', expected, received: 'a contradiction', details };
      }
      if (verdict === 'undecided') undecided++;
      await client.cleanUp();
    }
  } catch (error) {
    return { check, ...failureOf(error) };
  } finally {
    await client.cleanUp();
  }
  if (undecided === 0) return { check, outcome: 'passed' };
  return { check, outcome: 'not run', reason: `The search gave up in ${undecided} of ${rounds} rounds.` };
}
