import type { CheckClient } from './check-client.ts';
import type { NewPlant } from './check-user.ts';
import { NoResponseError } from './exchange.ts';
import { CheckFailure, NotRun } from './expect.ts';
import type { Failure } from './expect.ts';

/**
 * Resolves if the server follows a rule. Rejects with a CheckFailure if the server violates the rule, and with a NotRun
 * if the check cannot be run. `plant` is a plant for this check that no user has created yet.
 */
export type Check = (client: CheckClient, plant: NewPlant) => Promise<unknown>;

/** One named check of a server. */
export interface CheckCase {
  /** A stable identifier for programs, in kebab-case. */
  readonly id: string;
  /**
   * The level of the rule (RFC 2119). A server that breaks a MUST rule does not implement the interface. A broken
   * SHOULD rule is only a warning.
   */
  readonly level: 'MUST' | 'SHOULD';
  /** The rule as a sentence that begins with the level, such as 'MUST respond with 404 to an unknown path'. */
  readonly name: string;
  /** The document and the section that contain the rule. */
  readonly source: string;
  readonly run: Check;
}

/**
 * Returns the checks of a table. A key contains the id, the level and the rule of a check, such as
 * `delete-absent MUST respond with 404 to the DELETE of an absent plant`. The source of the rule follows in brackets if
 * it differs from `source`. A source is a section of a standard, or a part of the interface description.
 */
export function checksOf(source: string, table: Readonly<Record<string, Check>>): readonly CheckCase[] {
  return Object.entries(table).map(([key, run]) => {
    const parts = /^(\S+) ((MUST|SHOULD) .+?)(?: \[([^\]]+)\])?$/.exec(key);
    if (parts === null) throw new TypeError(`'${key}' must contain an id, a level and a rule`);
    const [, id = '', name = '', level, part = source] = parts;
    const from = /^(?:RFC|WHATWG) /.test(part) ? part : `Plant Store interface: ${part}`;
    return { id, level: level as CheckCase['level'], name, source: from, run };
  });
}

/** Calls `check` with each of the values, one after another. */
export async function inTurn<T>(values: Iterable<T>, check: (value: T) => unknown): Promise<void> {
  for (const value of values) await check(value);
}

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
