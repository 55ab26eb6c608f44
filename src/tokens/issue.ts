import { chownSync, existsSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createPrivateFile, requireFolderOf, syncFolder } from '../storage/sqlite/file.ts';
import { hasResultCode } from '../storage/sqlite/result-code.ts';
import { isTokenRecord, readTokenFile, tokenFileText } from './token-file.ts';
import type { TokenRecord } from './token-file.ts';
import { mintToken, randomBase62, tokenDigest } from './token.ts';

export type TokenGrant = Pick<TokenRecord, 'user' | 'scopes' | 'expiresAt'>;

/**
 * The maximum time to wait for the lock while another process holds it, in milliseconds. A process holds the lock only
 * for the few milliseconds in which it changes the file.
 */
const lockTimeoutMs = 5000;

/**
 * Creates a token, adds it to the tokens file, and returns the token and its record. If the file does not exist,
 * creates a file that only its owner can access. The file contains the SHA-256 of the token, not the token itself.
 *
 * @throws {Error} if the file's folder does not exist.
 * @throws {TypeError} if the user, the scopes or the expiry time is invalid.
 */
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

/**
 * Removes a token from the tokens file. `token` is the id of the token, or the token itself. Returns the id, or
 * `undefined` if the file does not contain the token.
 *
 * @throws {Error} if the file does not exist.
 */
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

/**
 * Checks that a tokens file exists.
 *
 * @throws {Error} if the file does not exist.
 */
export function requireTokenFile(path: string): void {
  requireFolderOf(path, 'tokens file');
  if (!existsSync(path)) {
    throw new Error(`There is no tokens file ${resolve(path)}. Check the path, or create a token.`);
  }
}

/**
 * Changes the tokens file while holding the lock, so that no concurrent change is lost. If `change` returns
 * `undefined`, the file stays unchanged.
 */
function changeTokenFile(given: string, change: (records: TokenRecord[]) => TokenRecord[] | undefined): void {
  requireFolderOf(given, 'tokens file');
  // The lock file is named after the real path, so that all symbolic links to a tokens file share one lock.
  const path = existsSync(given) ? realpathSync(given) : given;
  underLock(`${path}.lock`, () => {
    const changed = change(existsSync(path) ? readTokenFile(path) : []);
    if (changed !== undefined) replaceFile(path, tokenFileText(changed));
  });
}

/**
 * Runs `work` while holding an exclusive SQLite lock on an empty file, because Node.js has no function that locks a
 * file. The operating system releases this lock when the process ends. If the existence of a file served as the lock,
 * the lock would remain after a crash.
 *
 * `work` is synchronous, so no other code of this process runs while the lock is held.
 */
function underLock(path: string, work: () => void): void {
  const lock = takeLock(path);
  try {
    work();
  } finally {
    lock.close();
  }
}

/**
 * Acquires the lock. Closing the returned database releases the lock.
 *
 * @throws {Error} if another process holds the lock, or if the file cannot be used as a lock. The message names the
 *   file.
 */
function takeLock(path: string): DatabaseSync {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw brokenLock(path);
  createPrivateFile(path);
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(path, { timeout: lockTimeoutMs });
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    if (hasResultCode(error, 'notADatabase')) throw brokenLock(path, error);
    const problem = hasResultCode(error, 'busy')
      ? `was locked by another process for ${lockTimeoutMs / 1000} seconds: try again`
      : `cannot be locked: ${(error as Error).message}`;
    throw new Error(`${path} ${problem}.`, { cause: error });
  }
}

function brokenLock(path: string, cause?: unknown): Error {
  const what = 'is not the empty file that serves as the lock of the tokens file';
  return new Error(`${path} ${what}: move it away.`, { cause });
}

/** Replaces a file atomically and durably: writes and syncs a new file, renames it to `path`, and syncs the folder. */
function replaceFile(path: string, text: string): void {
  const newPath = `${path}.new`;
  // A process that crashed might have left an unfinished file, possibly with different permissions.
  rmSync(newPath, { force: true });
  writeFileSync(newPath, text, { mode: 0o600, flag: 'wx', flush: true });
  copyOwner(path, newPath);
  renameSync(newPath, path);
  syncFolder(dirname(path));
}

/**
 * Copies the owner and the group of the file `from` to the file `to`, so that root can create a token for a service
 * that runs as another user.
 */
function copyOwner(from: string, to: string): void {
  const [old, fresh] = [statSync(from, { throwIfNoEntry: false }), statSync(to)];
  if (old !== undefined && (old.uid !== fresh.uid || old.gid !== fresh.gid)) chownSync(to, old.uid, old.gid);
}
