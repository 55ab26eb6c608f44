import type { CheckCase } from './check-case.ts';
import type { CheckClient } from './check-client.ts';
import { NoResponseError } from './exchange.ts';
import { CheckFailure, NotRun } from './expect.ts';
import type { Failure } from './expect.ts';

/**
 * After this many consecutive checks without a response, the remaining checks are not run. Otherwise, each remaining
 * check could wait for the full request timeout.
 */
const maxUnanswered = 3;

export type CheckResult = { readonly check: Omit<CheckCase, 'run'> } & (
  | { readonly outcome: 'passed' }
  | ({ readonly outcome: 'failed' } & Failure)
  | { readonly outcome: 'not run'; readonly reason: string }
);

/** Runs checks one after another. Deletes the plants of each check before the next check begins. */
export async function* runCases(
  cases: readonly CheckCase[],
  client: CheckClient,
): AsyncGenerator<CheckResult, void, undefined> {
  let unanswered = 0;
  for (const check of cases) {
    if (unanswered === maxUnanswered) {
      yield { check, outcome: 'not run', reason: 'The server did not respond to earlier checks.' };
      continue;
    }
    const result = await runCase(check, client);
    unanswered = result.outcome === 'failed' && result.exchange === undefined ? unanswered + 1 : 0;
    yield result;
  }
}

/** Runs a check, and then deletes its plants. Throws errors that the server did not cause. */
export async function runCase(check: CheckCase, client: CheckClient): Promise<CheckResult> {
  client.beginCase();
  try {
    await check.run(client, client.newPlant());
    return { check, outcome: 'passed' };
  } catch (error) {
    if (error instanceof CheckFailure) return { check, outcome: 'failed', ...error.failure };
    if (error instanceof NotRun) return { check, outcome: 'not run', reason: error.message };
    if (!(error instanceof NoResponseError)) throw error;
    return { check, outcome: 'failed', expected: 'a complete response', received: error.message };
  } finally {
    await client.cleanUp();
  }
}
