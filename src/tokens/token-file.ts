import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { findOtherPlace, hasFile, isFileOrMissing, requireAccess, WrongFileError } from '../files/file.ts';
import { isUser } from '../core/model/plant.ts';
import { scopes as allScopes } from '../boundary/caller.ts';
import type { Scope } from '../boundary/caller.ts';

export interface TokenRecord {
  /** Identifies the token when tokens are listed or revoked. The id is not a secret. */
  readonly id: string;
  readonly user: string;
  /** The SHA-256 of the token, as 64 hexadecimal digits. */
  readonly sha256: string;
  /** The scopes of the token. Without this field, the token has all scopes. */
  readonly scopes?: readonly Scope[] | undefined;
  readonly createdAt: string;
  /** The expiry time, in ISO 8601. Without this field, the token never expires. */
  readonly expiresAt?: string | undefined;
}

/** Thrown if the content of a tokens file is invalid. The message does not quote the content. */
export class InvalidTokenFileError extends WrongFileError {}

/** @throws {InvalidTokenFileError} if the content is invalid, and another error if the file cannot be read. */
export function readTokenFile(path: string): TokenRecord[] {
  if (!hasFile(path)) throw new Error(`There is no tokens file ${path}. Check the path, or create a token.`);
  requireAccess([path], 'read');
  if (!isFileOrMissing(path)) throw new WrongFileError(`${path} cannot be used: it is not a file.`);
  // Token commands replace the file by renaming a new file. A second path would still lead to the old file.
  const otherPlace = findOtherPlace(path);
  if (otherPlace !== undefined) {
    throw new WrongFileError(`${path} cannot be used: it ${otherPlace}. Otherwise, revoked tokens could stay valid.`);
  }
  try {
    return parseRecords(readFileSync(path));
  } catch (cause) {
    const message = `${path} cannot be used: ${(cause as Error).message}.`;
    if (!(cause instanceof InvalidTokenFileError)) throw new Error(message, { cause });
    throw new InvalidTokenFileError(
      `${message} Correct it, or restore a backup, in which revoked tokens are still valid.`,
    );
  }
}

export function tokenDigest(token: string): string {
  return hash('sha256', token, 'hex');
}

export function tokenFileText(tokens: readonly TokenRecord[]): string {
  return `${JSON.stringify({ version: 1, tokens }, null, 2)}\n`;
}

function parseRecords(bytes: Buffer): TokenRecord[] {
  // Invalid bytes would all turn into U+FFFD, so different users would become one.
  if (!isUtf8(bytes)) throw new InvalidTokenFileError('it is not UTF-8');
  let content: unknown;
  try {
    content = JSON.parse(bytes.toString().replace(/^\uFEFF/, ''));
  } catch {
    // The SyntaxError is not set as the cause, because its message quotes the file's content.
    throw new InvalidTokenFileError('it is not JSON');
  }
  const { version, tokens } = (content ?? {}) as Record<string, unknown>;
  if (version !== 1 || !Array.isArray(tokens)) throw new InvalidTokenFileError('it is not {"version":1,"tokens":[…]}');
  for (const [index, record] of (tokens as unknown[]).entries()) {
    const problem = problemOf(record);
    if (problem !== undefined) throw new InvalidTokenFileError(`tokens[${index}] ${problem}`);
  }
  // If two entries had the same id, a token could stay valid after it has been revoked by its id.
  for (const name of ['id', 'sha256'] as const) {
    const indexes = new Map<string, number>();
    for (const [last, { [name]: value }] of (tokens as TokenRecord[]).entries()) {
      const first = indexes.get(value);
      if (first !== undefined) {
        throw new InvalidTokenFileError(`tokens[${last}] has the same ${name} as tokens[${first}]`);
      }
      indexes.set(value, last);
    }
  }
  return tokens as TokenRecord[];
}

const validFields: Readonly<Record<keyof TokenRecord, (value: unknown) => boolean>> = {
  id: (value) => typeof value === 'string',
  user: isUser,
  sha256: (value) => typeof value === 'string' && /^[\da-f]{64}$/.test(value),
  scopes: (value) =>
    value === undefined || (Array.isArray(value) && value.every((scope) => allScopes.includes(scope as Scope))),
  createdAt: isTime,
  expiresAt: (value) => value === undefined || isTime(value),
};

function problemOf(record: unknown): string | undefined {
  if (typeof record !== 'object' || record === null) return 'is not an object';
  // With a misspelled `scopes` or `expiresAt`, a token would have all scopes, or never expire.
  const isKnown = (name: string): boolean => Object.hasOwn(validFields, name);
  const unknown = Object.keys(record).find((name) => !isKnown(name));
  // A long name may be a token.
  if (unknown !== undefined) return `has an unknown field${/^\w{1,20}$/.test(unknown) ? `, ${unknown}` : ''}`;
  const fields = record as Record<string, unknown>;
  const wrong = Object.entries(validFields).find(([name, isValid]) => !isValid(fields[name]))?.[0];
  return wrong === undefined ? undefined : `has a missing or invalid ${wrong}`;
}

/** Requires a time zone. `Date.parse` also accepts local times, and other texts, such as `never 2099`. */
function isTime(value: unknown): boolean {
  const format = /^(?:\d{4}|[+-]\d{6})-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;
  return typeof value === 'string' && format.test(value) && !Number.isNaN(Date.parse(value));
}
