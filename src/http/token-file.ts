import { readFileSync, statSync } from 'node:fs';
import { isUser } from '../user.ts';
import { scopes as allScopes } from './routes.ts';
import type { Scope } from './routes.ts';

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

/**
 * Reads a tokens file.
 *
 * @throws {Error} saying in one sentence what is wrong, without quoting the content.
 */
export function readTokenFile(path: string): TokenRecord[] {
  try {
    // A pipe would keep everything waiting for somebody to write into it.
    if (!statSync(path).isFile()) throw new Error('it is not a file');
    return parseTokenFile(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new Error(`${path} cannot be used: ${(cause as Error).message}.`, { cause });
  }
}

/** The content of a tokens file with these records. */
export function tokenFileText(tokens: readonly TokenRecord[]): string {
  return `${JSON.stringify({ version: 1, tokens }, null, 2)}\n`;
}

function parseTokenFile(text: string): TokenRecord[] {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    // The message of a SyntaxError quotes the text.
    throw new Error('it is not JSON');
  }
  const { version, tokens } = (content ?? {}) as Record<string, unknown>;
  if (version !== 1 || !Array.isArray(tokens)) throw new Error('it is not {"version":1,"tokens":[…]}');
  const bad = tokens.findIndex((record) => !isTokenRecord(record));
  if (bad !== -1) throw new Error(`entry ${bad} of its tokens is not a token record`);
  return tokens as TokenRecord[];
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
