import { closeSync, existsSync, fchownSync, fstatSync, fsyncSync, lstatSync, openSync } from 'node:fs';
import { realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { defaultBusyTimeoutMs } from '../storage/sqlite/database.ts';
import { createPrivateFile, requireFolderOf, syncFolder } from '../storage/sqlite/file.ts';
import { hasResultCode } from '../storage/sqlite/result-code.ts';
import { isTokenRecord, readTokenFile, tokenFileText } from './token-file.ts';
import type { TokenRecord } from './token-file.ts';
import { mintToken, randomBase62, tokenDigest } from './token.ts';

export type TokenGrant = Pick<TokenRecord, 'user' | 'scopes' | 'expiresAt'>;

/** Creates a token and adds it to the tokens file. Creates the file if it does not exist. */
export function issueToken(
  path: string,
  { user, scopes, expiresAt }: TokenGrant,
): { token: string; record: TokenRecord } {
  const token = mintToken();
  const record: TokenRecord = {
    id: `tk_${randomBase62(10)}`,
    user,
    sha256: tokenDigest(token),
    ...(scopes && { scopes }),
    createdAt: new Date().toISOString(),
    ...(expiresAt !== undefined && { expiresAt }),
  };
  if (!isTokenRecord(record)) throw new TypeError('a token needs a user, known scopes and an ISO 8601 expiresAt');
  changeTokenFile(path, (records) => [...records, record]);
  return { token, record };
}

/** Removes the token with this id or value from the file. Returns the id, or `undefined` if there is no such token. */
export function revokeToken(path: string, token: string): string | undefined {
  requireTokenFile(path);
  const digest = tokenDigest(token);
  let revokedId: string | undefined;
  changeTokenFile(path, (records) => {
    revokedId = records.find(({ id, sha256 }) => id === token || sha256 === digest)?.id;
    return revokedId === undefined ? undefined : records.filter(({ id }) => id !== revokedId);
  });
  return revokedId;
}

export function requireTokenFile(path: string): void {
  requireFolderOf(path, 'tokens file');
  if (!existsSync(path)) {
    throw new Error(`There is no tokens file ${resolve(path)}. Check the path, or create a token.`);
  }
}

/** Changes the tokens file under a lock. If `change` returns `undefined`, the file stays unchanged. */
function changeTokenFile(given: string, change: (records: TokenRecord[]) => TokenRecord[] | undefined): void {
  requireFolderOf(given, 'tokens file');
  // The lock file is named after the real path, so that all symbolic links to a tokens file share one lock.
  const path = existsSync(given) ? realpathSync(given) : given;
  const lock = takeLock(`${path}.lock`);
  try {
    const changed = change(existsSync(path) ? readTokenFile(path) : []);
    if (changed !== undefined) replaceFile(path, tokenFileText(changed));
  } finally {
    lock.close();
  }
}

/**
 * Locks an empty file with SQLite, because Node.js cannot lock files. The lock is released when the database is closed
 * or the process ends.
 */
function takeLock(path: string): DatabaseSync {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false) throw brokenLock(path);
  createPrivateFile(path);
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(path, { timeout: defaultBusyTimeoutMs });
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    if (hasResultCode(error, 'notADatabase')) throw brokenLock(path, error);
    const problem = hasResultCode(error, 'busy')
      ? `was locked by another process for ${defaultBusyTimeoutMs / 1000} seconds: try again`
      : `cannot be locked: ${(error as Error).message}`;
    throw new Error(`${path} ${problem}.`, { cause: error });
  }
}

function brokenLock(path: string, cause?: unknown): Error {
  const what = 'is not the empty file that serves as the lock of the tokens file';
  return new Error(`${path} ${what}: move it away.`, { cause });
}

/**
 * Replaces a file atomically and durably, and keeps its owner. Sets the owner through the file descriptor: through the
 * path, root could make another account the owner of the target of a link that this account has put there.
 */
function replaceFile(path: string, text: string): void {
  const newPath = `${path}.new`;
  // A process that was killed might have left an unfinished file.
  rmSync(newPath, { force: true });
  const old = lstatSync(path, { throwIfNoEntry: false });
  // The flag `x` also refuses a symbolic link.
  const file = openSync(newPath, 'wx', 0o600);
  try {
    writeFileSync(file, text);
    const { uid, gid } = fstatSync(file);
    if (old !== undefined && (old.uid !== uid || old.gid !== gid)) fchownSync(file, old.uid, old.gid);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(newPath, path);
  syncFolder(dirname(path));
}
