import { readFileSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { isUser } from '../core/model/user.ts';
import { scopes as allScopes } from '../core/model/caller.ts';
import type { Scope } from '../core/model/caller.ts';

/** An entry of the tokens file. */
export interface TokenRecord {
  /** Identifies the token when tokens are listed or revoked. The id is not a secret. */
  readonly id: string;
  readonly user: string;
  /** The SHA-256 of the token, as 64 hexadecimal digits. */
  readonly sha256: string;
  /** The scopes of the token. Without this field, the token has all scopes. */
  readonly scopes?: readonly Scope[];
  /** The creation time, in a format that `Date.parse` accepts. */
  readonly createdAt: string;
  /** The expiry time, in a format that `Date.parse` accepts. Without this field, the token never expires. */
  readonly expiresAt?: string;
}

/** The number of records to visit before yielding to the event loop. Visiting this many records takes about 5 ms. */
const sliceLength = 2000;

/**
 * Reads a tokens file.
 *
 * @throws {Error} if the file cannot be read or is invalid. The message does not quote the file's content.
 */
export function readTokenFile(path: string): TokenRecord[] {
  try {
    // If the path names a pipe, opening it would block until another process writes to the pipe.
    requireRegularFile(statSync(path));
    return [...recordsOf(readFileSync(path, 'utf8'))];
  } catch (cause) {
    throw unusable(path, cause);
  }
}

/**
 * Reads a tokens file asynchronously. Calls `visit` with each record, in order. The event loop is blocked only while
 * the JSON is parsed. If a record is invalid, `visit` is called with the preceding records before the promise rejects.
 *
 * @throws {Error} in the same cases as {@link readTokenFile}.
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

/**
 * Returns `true` if an error from this module means that the file could not be read, and `false` if the file was read
 * but its content is invalid.
 */
export function isReadFailure({ cause }: Error): boolean {
  return cause instanceof Error && 'errno' in cause;
}

function requireRegularFile(stats: Stats): void {
  if (!stats.isFile()) throw new Error('it is not a file');
}

function unusable(path: string, cause: unknown): Error {
  return new Error(`${path} cannot be used: ${(cause as Error).message}.`, { cause });
}

/** Returns the content of a tokens file that contains these records. */
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
    // The SyntaxError is not set as the cause, because its message quotes the file's content.
    throw new Error('it is not JSON. Correct it, or restore a backup');
  }
  const { version, tokens } = (content ?? {}) as Record<string, unknown>;
  if (version !== 1 || !Array.isArray(tokens)) throw new Error('it is not {"version":1,"tokens":[…]}');
  return tokens;
}

/**
 * Returns the name of a record for a message. The name is the record's id, or the record's index if the id has an
 * unusual length or contains characters that could make the message misleading.
 */
function nameOf(tokens: readonly unknown[], index: number): string {
  const { id } = tokens[index] as TokenRecord;
  return /^[\w-]{1,64}$/.test(id) ? id : `entry ${index}`;
}

export function isTokenRecord(value: unknown): value is TokenRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { id, user, sha256, scopes, createdAt, expiresAt } = value as Record<string, unknown>;
  return (
    typeof id === 'string' &&
    isUser(user) &&
    typeof sha256 === 'string' &&
    /^[\da-f]{64}$/.test(sha256) &&
    (scopes === undefined || (Array.isArray(scopes) && scopes.every((scope) => allScopes.includes(scope as Scope)))) &&
    isTime(createdAt) &&
    (expiresAt === undefined || isTime(expiresAt))
  );
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}
