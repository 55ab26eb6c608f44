import type { CheckClient } from './check-client.ts';

/**
 * The level of a rule (RFC 2119). A server that breaks a MUST rule does not implement the interface. A broken SHOULD
 * rule is only a warning.
 */
type Level = 'MUST' | 'SHOULD';

/**
 * Resolves if the server follows a rule. Rejects with a CheckFailure if the server violates the rule, and with a NotRun
 * if the check cannot be run.
 */
export type Check = (client: CheckClient) => Promise<unknown>;

/** One named check of a server. */
export interface CheckCase {
  /** A stable identifier for programs, in kebab-case. */
  readonly id: string;
  readonly level: Level;
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
export function checksOf(source: string, table: Readonly<Record<string, Check>>): CheckCase[] {
  return Object.entries(table).map(([key, run]) => {
    const parts = /^(\S+) ((MUST|SHOULD) .+?)(?: \[([^\]]+)\])?$/.exec(key);
    if (parts === null) throw new TypeError(`'${key}' must contain an id, a level and a rule`);
    const [, id = '', name = '', level, from = source] = parts;
    return { id, level: level as Level, name, source: sourceName(from), run };
  });
}

/** Returns a check that checks each of the values, one after another. */
export function each<T>(
  values: readonly T[] | ((client: CheckClient) => readonly T[]),
  check: (client: CheckClient, value: T) => Promise<unknown>,
): Check {
  return async (client) => {
    for (const value of typeof values === 'function' ? values(client) : values) await check(client, value);
  };
}

function sourceName(source: string): string {
  return /^(?:RFC|WHATWG) /.test(source) ? source : `Plant Store interface: ${source}`;
}
