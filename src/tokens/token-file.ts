import { readFileSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { isUser } from '../model/user.ts';
import { scopes as allScopes } from '../model/caller.ts';
import type { Scope } from '../model/caller.ts';

/** What the tokens file keeps of a token. */
export interface TokenRecord {
  /** Names the token in lists and for revoking; no secret. */
  readonly id: string;
  /** The user the token stands for. */
  readonly user: string;
  /** The SHA-256 of the token, 64 hexadecimal digits. */
  readonly sha256: string;
  /** What the token may do; without it, everything. */
  readonly scopes?: readonly Scope[];
  /** When it was made, as `Date.parse` reads it. */
  readonly createdAt: string;
  /** From when on it is refused, as `Date.parse` reads it; without it, never. */
  readonly expiresAt?: string;
}

/** After this many records a reader that must not block lets other work run: about 5 ms. */
const sliceLength = 2000;

/**
 * Reads a tokens file.
 *
 * @throws {Error} saying in one sentence what is wrong, without quoting the content.
 */
export function readTokenFile(path: string): TokenRecord[] {
  try {
    // Opening a pipe would block until something writes to it.
    requireRegularFile(statSync(path));
    return [...recordsOf(readFileSync(path, 'utf8'))];
  } catch (cause) {
    throw unusable(path, cause);
  }
}

/**
 * Reads a tokens file while other work goes on: only parsing the JSON blocks. Calls `visit` with each
 * record, also with those before the record that makes the file invalid.
 *
 * @throws {Error} as {@link readTokenFile}
 */
export async function visitTokenFile(path: string, visit: (record: TokenRecord) => void): Promise<void> {
  try {
    requireRegularFile(await stat(path));
    let count = 0;
    for (const record of recordsOf(await readFile(path, 'utf8'))) {
      visit(record);
      if (++count % sliceLength === 0) await nextIteration();
    }
  } catch (cause) {
    throw unusable(path, cause);
  }
}

/** Whether a tokens file could not be read; `false` if its content was read and is invalid. */
export function isReadFailure({ cause }: Error): boolean {
  return cause instanceof Error && 'errno' in cause;
}

function requireRegularFile(stats: Stats): void {
  if (!stats.isFile()) throw new Error('it is not a file');
}

function unusable(path: string, cause: unknown): Error {
  return new Error(`${path} cannot be used: ${(cause as Error).message}.`, { cause });
}

/** The content of a tokens file with these records. */
export function tokenFileText(tokens: readonly TokenRecord[]): string {
  return `${JSON.stringify({ version: 1, tokens }, null, 2)}\n`;
}

function* recordsOf(text: string): Generator<TokenRecord, void, undefined> {
  const tokens = parseTokens(text);
  const indexes = new Map<string, number>();
  for (const [index, record] of tokens.entries()) {
    if (!isTokenRecord(record)) throw new Error(`entry ${index} of its tokens is not a token record`);
    const other = indexes.get(record.sha256);
    if (other !== undefined) {
      throw new Error(`${nameOf(tokens, other)} and ${nameOf(tokens, index)} have the same sha256`);
    }
    indexes.set(record.sha256, index);
    yield record;
  }
}

function parseTokens(text: string): unknown[] {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    // The message of a SyntaxError quotes the text.
    throw new Error('it is not JSON');
  }
  const { version, tokens } = (content ?? {}) as Record<string, unknown>;
  if (version !== 1 || !Array.isArray(tokens)) throw new Error('it is not {"version":1,"tokens":[…]}');
  return tokens;
}

/** The id of a record, or its place if the id is a text that could mislead in a message. */
function nameOf(tokens: readonly unknown[], index: number): string {
  const { id } = tokens[index] as TokenRecord;
  return /^[\w-]{1,64}$/.test(id) ? id : `entry ${index}`;
}

/** Whether a value is a record that every reader takes. */
export function isTokenRecord(value: unknown): value is TokenRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { id, user, sha256, scopes, createdAt, expiresAt } = value as Record<string, unknown>;
  return (
    typeof id === 'string' &&
    isUser(user) &&
    typeof sha256 === 'string' && /^[\da-f]{64}$/.test(sha256) &&
    (scopes === undefined || (Array.isArray(scopes) && scopes.every((scope) => allScopes.includes(scope as Scope)))) &&
    isTime(createdAt) &&
    (expiresAt === undefined || isTime(expiresAt))
  );
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}
