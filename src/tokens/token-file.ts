import { readFileSync, statSync } from 'node:fs';
import { isUser } from '../core/model/user.ts';
import { scopes as allScopes } from '../application/caller.ts';
import type { Scope } from '../application/caller.ts';

export interface TokenRecord {
  /** Identifies the token when tokens are listed or revoked. The id is not a secret. */
  readonly id: string;
  readonly user: string;
  /** The SHA-256 of the token, as 64 hexadecimal digits. */
  readonly sha256: string;
  /** The scopes of the token. Without this field, the token has all scopes. */
  readonly scopes?: readonly Scope[];
  readonly createdAt: string;
  /** The expiry time, in ISO 8601. Without this field, the token never expires. */
  readonly expiresAt?: string;
}

/** @throws {Error} if the file cannot be read or is invalid. The message does not quote the file's content. */
export function readTokenFile(path: string): TokenRecord[] {
  try {
    // If the path names a pipe, opening it would block until another process opens the pipe for writing.
    if (!statSync(path).isFile()) throw new Error('it is not a file');
    return parseRecords(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new Error(`${path} cannot be used: ${(cause as Error).message}.`, { cause });
  }
}

export function isReadFailure({ cause }: Error): boolean {
  // In Jest, errors from Node.js are not instances of `Error`.
  return typeof cause === 'object' && cause !== null && 'errno' in cause;
}

export function tokenFileText(tokens: readonly TokenRecord[]): string {
  return `${JSON.stringify({ version: 1, tokens }, null, 2)}\n`;
}

function parseRecords(text: string): TokenRecord[] {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    // The SyntaxError is not set as the cause, because its message quotes the file's content.
    throw new Error('it is not JSON. Correct it, or restore a backup');
  }
  const { version, tokens } = (content ?? {}) as Record<string, unknown>;
  if (version !== 1 || !Array.isArray(tokens)) throw new Error('it is not {"version":1,"tokens":[…]}');
  const indexes = new Map<string, number>();
  for (const [index, record] of tokens.entries()) {
    if (!isTokenRecord(record)) {
      throw new Error(`entry ${index} of its tokens has a field that is unknown, missing or invalid`);
    }
    const other = indexes.get(record.sha256);
    if (other !== undefined) throw new Error(`entries ${other} and ${index} of its tokens have the same sha256`);
    indexes.set(record.sha256, index);
  }
  return tokens as TokenRecord[];
}

function isTokenRecord(value: unknown): value is TokenRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { id, user, sha256, scopes, createdAt, expiresAt, ...others } = value as Record<string, unknown>;
  return (
    // Otherwise, a token with a misspelled `scopes` or `expiresAt` would have all scopes, or never expire.
    Object.keys(others).length === 0 &&
    typeof id === 'string' &&
    isUser(user) &&
    typeof sha256 === 'string' &&
    /^[\da-f]{64}$/.test(sha256) &&
    (scopes === undefined || (Array.isArray(scopes) && scopes.every((scope) => allScopes.includes(scope as Scope)))) &&
    isTime(createdAt) &&
    (expiresAt === undefined || isTime(expiresAt))
  );
}

/** Checks the format, because `Date.parse` also accepts other texts, such as `never 2099`. */
function isTime(value: unknown): value is string {
  const format = /^(?:\d{4}|[+-]\d{6})-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?$/;
  return typeof value === 'string' && format.test(value) && !Number.isNaN(Date.parse(value));
}
