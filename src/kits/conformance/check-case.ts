import type { CheckClient } from './check-client.ts';

/**
 * The level of a rule (RFC 2119). A server that breaks a MUST rule does not implement the interface. A broken SHOULD
 * rule is only a warning.
 */
type Level = 'MUST' | 'SHOULD';

/** One named check of a server. */
export interface CheckCase {
  /** A stable identifier for programs, in kebab-case. */
  readonly id: string;
  readonly level: Level;
  /** The rule as a sentence that begins with the level, such as 'MUST respond with 404 to an unknown path'. */
  readonly name: string;
  /** The document and the section that contain the rule. */
  readonly source: string;
  /**
   * Resolves if the server follows the rule. Rejects with a CheckFailure if the server violates the rule, and with a
   * NotRun if the check cannot be run.
   */
  readonly run: (client: CheckClient) => Promise<void>;
}

/** Returns a check whose failure means that the server does not implement the interface. */
export function must(id: string, rule: string, source: string, run: CheckCase['run']): CheckCase {
  return { id, level: 'MUST', name: `MUST ${rule}`, source, run };
}

/** Returns a check whose failure is a warning. */
export function should(id: string, rule: string, source: string, run: CheckCase['run']): CheckCase {
  return { id, level: 'SHOULD', name: `SHOULD ${rule}`, source, run };
}

/** Returns the `source` of a rule in this part of the interface description. */
export function plantStore(part: string): string {
  return `Plant Store interface: ${part}`;
}
