import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isStorableString } from '../plant.ts';
import { scopes as allScopes } from './routes.ts';
import type { Scope } from './routes.ts';
import { mintToken, randomBase62, tokenDigest } from './token.ts';

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
  /** When it was made, ISO 8601. */
  readonly createdAt: string;
  /** From when on it is refused, ISO 8601; without it, never. */
  readonly expiresAt?: string;
}

/** What a new token is to be. */
export type TokenGrant = Pick<TokenRecord, 'user' | 'scopes' | 'expiresAt'>;

/** A lock file older than this was left by a process that died: none is held for more than a moment. */
const staleLockMs = 10_000;

/**
 * The records in the text of a tokens file.
 *
 * @throws {Error} saying what is wrong, without quoting the text.
 */
export function parseTokenFile(text: string): TokenRecord[] {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new Error('it is not JSON');
  }
  const { version, tokens } = (content ?? {}) as Record<string, unknown>;
  if (version !== 1 || !Array.isArray(tokens)) throw new Error('it is not {"version":1,"tokens":[…]}');
  const bad = tokens.findIndex((record) => !isTokenRecord(record));
  if (bad !== -1) throw new Error(`entry ${bad} of its tokens is not a token record`);
  return tokens as TokenRecord[];
}

function isTokenRecord(value: unknown): value is TokenRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { id, user, sha256, scopes, createdAt, expiresAt } = value as Record<string, unknown>;
  return (
    typeof id === 'string' &&
    typeof user === 'string' && user !== '' && isStorableString(user) &&
    typeof sha256 === 'string' && /^[\da-f]{64}$/.test(sha256) &&
    (scopes === undefined || (Array.isArray(scopes) && scopes.every((scope) => allScopes.includes(scope as Scope)))) &&
    isTime(createdAt) &&
    (expiresAt === undefined || isTime(expiresAt))
  );
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}

/** The records of a tokens file; none where there is no file. */
export async function readTokenFile(path: string): Promise<TokenRecord[]> {
  if (!existsSync(path)) return [];
  const text = await readFile(path, 'utf8');
  try {
    return parseTokenFile(text);
  } catch (cause) {
    throw new Error(`${path} is no tokens file: ${(cause as Error).message}.`, { cause });
  }
}

/** Adds a token to the file, which is made where there is none. The token itself is not kept. */
export async function issueToken(path: string, grant: TokenGrant): Promise<{ token: string; record: TokenRecord }> {
  const token = mintToken();
  const record: TokenRecord = {
    id: `tk_${randomBase62(10)}`,
    sha256: tokenDigest(token),
    createdAt: new Date().toISOString(),
    ...grant,
  };
  await updateTokenFile(path, (records) => [...records, record]);
  return { token, record };
}

/** Takes a token out of the file; says whether it was there. */
export async function revokeToken(path: string, id: string): Promise<boolean> {
  let wasThere = false;
  await updateTokenFile(path, (records) => {
    const kept = records.filter((record) => record.id !== id);
    wasThere = kept.length < records.length;
    return kept;
  });
  return wasThere;
}

/** Under a lock file, so that of two changes at once neither is lost; readers see the old or the new. */
async function updateTokenFile(path: string, change: (records: TokenRecord[]) => TokenRecord[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const lock = `${path}.lock`;
  await takeLock(lock);
  try {
    const tokens = change(await readTokenFile(path));
    await replaceFile(path, `${JSON.stringify({ version: 1, tokens }, null, 2)}\n`);
  } finally {
    await rm(lock, { force: true });
  }
}

async function takeLock(lock: string): Promise<void> {
  for (;;) {
    try {
      const file = await open(lock, 'wx', 0o600);
      await file.close();
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const heldSince = (await stat(lock).catch(() => undefined))?.mtimeMs ?? Date.now();
    if (Date.now() - heldSince > staleLockMs) await rm(lock, { force: true });
    else await sleep(10);
  }
}

/** Atomic and durable: written beside, synced, renamed, and the folder synced. Readable by its owner only. */
async function replaceFile(path: string, text: string): Promise<void> {
  const beside = `${path}.new`;
  const file = await open(beside, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(beside, path);
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
