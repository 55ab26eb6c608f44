import { checkCases } from '../../../src/kits/conformance/cases.ts';
import { CheckClient } from '../../../src/kits/conformance/check-client.ts';
import type { Send } from '../../../src/kits/conformance/exchange.ts';
import { preflight } from '../../../src/kits/conformance/preflight.ts';
import { runCases } from '../../../src/kits/conformance/run-cases.ts';
import type { CheckResult } from '../../../src/kits/conformance/run-cases.ts';

/** The tokens of the users ada and bob, as `authenticateByName` accepts them. */
export const tokens = { a: 'ada', b: 'bob', readOnly: 'ada-reads' } as const;

/** The results of a run of the checks, with the client that ran them. */
export interface Finding {
  readonly client: CheckClient;
  readonly results: readonly CheckResult[];
}

/** Runs the preflight, then the checks whose id begins with one of the given groups. By default, runs all checks. */
export async function runChecks(send: Send, baseUrl: string, groups: readonly string[] = ['']): Promise<Finding> {
  const client = new CheckClient({ send, baseUrl, tokens });
  await preflight(client);
  const results: CheckResult[] = [];
  const cases = checkCases.filter(({ id }) => groups.some((group) => id.startsWith(group)));
  for await (const result of runCases(cases, client)) results.push(result);
  return { client, results };
}

/** Returns the ids of the checks with this outcome. */
export function idsOf(results: readonly CheckResult[], outcome: CheckResult['outcome']): string[] {
  return results.filter((result) => result.outcome === outcome).map(({ check }) => check.id);
}
