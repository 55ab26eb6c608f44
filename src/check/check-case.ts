import type { CheckClient } from './check-client.ts';

/** A failed MUST means that the server does not implement the interface. A failed SHOULD is a warning (RFC 2119). */
type Level = 'MUST' | 'SHOULD';

/** One named check of a server. */
export interface CheckCase {
  /** The stable name for programs, in kebab-case. */
  readonly id: string;
  readonly level: Level;
  /** The rule as a sentence that begins with the level. */
  readonly name: string;
  /** The document and the section that the rule is from. */
  readonly source: string;
  /** Resolves if the server follows the rule. Throws a CheckFailure if it does not, and a NotRun if it cannot tell. */
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

/** Names a part of the description of the Plant Store interface, for `source`. */
export function plantStore(part: string): string {
  return `Plant Store interface: ${part}`;
}
