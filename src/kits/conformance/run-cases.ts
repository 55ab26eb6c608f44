import type { CheckCase } from './check-case.ts';
import type { CheckClient } from './check-client.ts';
import { NoResponseError } from './exchange.ts';
import type { Exchange } from './exchange.ts';
import { CheckFailure, NotRun } from './expect.ts';

/**
 * After this many consecutive checks without a response, the remaining checks are not run. Otherwise, each remaining
 * check could wait for the full request timeout.
 */
const maxUnanswered = 3;

export interface FailedCheck {
  readonly outcome: 'failed';
  /** Completes the sentence "The check expects …". */
  readonly expected: string;
  /** What the check received instead. */
  readonly received: string;
  /** The exchange that breaks the rule; missing if there was no complete response, or if there are `details`. */
  readonly exchange?: Exchange;
  /** Further lines of explanation. */
  readonly details?: readonly string[];
}

export type CheckResult = { readonly check: Pick<CheckCase, 'id' | 'level' | 'name' | 'source'> } & (
  { readonly outcome: 'passed' } | FailedCheck | { readonly outcome: 'not run'; readonly reason: string }
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

async function runCase(check: CheckCase, client: CheckClient): Promise<CheckResult> {
  client.beginCase();
  try {
    await check.run(client, client.newPlant());
    return { check, outcome: 'passed' };
  } catch (error) {
    if (error instanceof NotRun) return { check, outcome: 'not run', reason: error.message };
    return { check, ...failureOf(error) };
  } finally {
    await client.cleanUp();
  }
}

/** Returns the result of a check that threw this error. Rethrows errors that the server did not cause. */
export function failureOf(error: unknown): FailedCheck {
  if (error instanceof NoResponseError) {
    return { outcome: 'failed', expected: 'a complete response', received: error.message };
  }
  if (!(error instanceof CheckFailure)) throw error;
  const { expected, exchange } = error;
  return { outcome: 'failed', expected, received: `status ${exchange.response.status}`, exchange };
}
