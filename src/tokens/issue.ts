import { randomInt } from 'node:crypto';
import { closeSync, fchmodSync, fchownSync, fstatSync, fsyncSync, lstatSync, openSync } from 'node:fs';
import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasFile, requireAccess, requireFolderOf, syncFolder } from '../files/file.ts';
import { readTokenFile, tokenDigest, tokenFileText } from './token-file.ts';
import type { TokenRecord } from './token-file.ts';

/** A new file that does not change for this long is abandoned, because a change takes only milliseconds. */
const abandonedAfterMs = 5000;
const retryAfterMs = 20;

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export function randomBase62(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}

/**
 * Creates the tokens file if it does not exist. `grant` must be valid. `deliver` shows or saves the token. It runs
 * before the token is stored, so that every stored token has been delivered.
 */
export async function issueToken(
  path: string,
  grant: Pick<TokenRecord, 'user' | 'scopes' | 'expiresAt'>,
  deliver?: (token: string) => void | Promise<void>,
): Promise<{ token: string; record: TokenRecord }> {
  // 36 base62 digits have log2(62^36) ≈ 214 bits of entropy.
  const token = `pst_${randomBase62(36)}`;
  const record: TokenRecord = {
    id: `tk_${randomBase62(10)}`,
    ...grant,
    sha256: tokenDigest(token),
    createdAt: new Date().toISOString(),
  };
  const add = (records: TokenRecord[]): TokenRecord[] => [...records, record];
  await changeTokenFile(path, add, () => deliver?.(token));
  return { token, record };
}

/**
 * Completes the creation of a tokens file by a process that was killed after it had delivered the token. Returns
 * whether there is such an unfinished file with the token.
 */
export function finishIssue(path: string, token: string): boolean {
  const newPath = `${path}.new`;
  try {
    const digest = tokenDigest(token);
    if (hasFile(path) || !readTokenFile(newPath).some(({ sha256 }) => sha256 === digest)) return false;
  } catch {
    return false;
  }
  renameSync(newPath, path);
  syncFolder(dirname(path));
  return true;
}

/** Removes the token with this id or value from the file. Returns the id, or `undefined` if there is no such token. */
export async function revokeToken(path: string, token: string): Promise<string | undefined> {
  const digest = tokenDigest(token);
  let records;
  try {
    records = readTokenFile(path);
  } catch (cause) {
    throw new Error(`${(cause as Error).message} No token was revoked.`, { cause });
  }
  const found = records.find(({ id, sha256 }) => id === token || sha256 === digest);
  if (found === undefined) return undefined;
  await changeTokenFile(path, (current) => current.filter(({ sha256 }) => sha256 !== found.sha256));
  return found.id;
}

/**
 * Replaces the tokens file atomically and durably. `beforeStore` runs directly before the new file is renamed. The new
 * file is also the lock.
 */
async function changeTokenFile(
  path: string,
  change: (records: TokenRecord[]) => TokenRecord[],
  beforeStore?: () => void | Promise<void>,
): Promise<void> {
  requireFolderOf(path, 'tokens file');
  // The new file is named after the real path, so that all symbolic links to a tokens file share one lock.
  const realPath = hasFile(path) ? realpathSync(path) : resolve(path);
  const folder = dirname(realPath);
  requireAccess([folder], 'write');
  const newPath = `${realPath}.new`;
  const file = await createNewFile(newPath);
  const isOwn = (): boolean => lstatSync(newPath, { throwIfNoEntry: false })?.ino === fstatSync(file).ino;
  try {
    const old = statSync(realPath, { throwIfNoEntry: false });
    writeFileSync(file, tokenFileText(change(old === undefined ? [] : readTokenFile(realPath))));
    // A server that runs as another account must still be able to read the file.
    if (old !== undefined && process.geteuid?.() === 0) fchownSync(file, old.uid, old.gid);
    // If the group differs, its members must not gain access.
    if (fstatSync(file).gid === old?.gid) fchmodSync(file, old.mode & 0o640);
    fsyncSync(file);
    await beforeStore?.();
    if (!isOwn()) throw new Error(`Another command has replaced ${newPath}, so nothing was changed. Try again.`);
    renameSync(newPath, realPath);
  } catch (error) {
    if (isOwn()) rmSync(newPath);
    throw error;
  } finally {
    closeSync(file);
  }
  syncFolder(folder);
}

/**
 * Waits while another process is changing the tokens file. If the new file does not change for `abandonedAfterMs`, the
 * process that created it was killed, and the file is removed. Neither a timestamp nor a process id could show this:
 * the clock of a network file system can differ, and processes of different containers can have the same id.
 */
async function createNewFile(path: string): Promise<number> {
  let found = '';
  let deadline = Infinity;
  for (;;) {
    try {
      // The flag `x` also refuses a symbolic link.
      return openSync(path, 'wx', 0o600);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    }
    const { ino, ctimeNs } = lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? {};
    const now = performance.now();
    if (found !== `${ino} ${ctimeNs}`) {
      found = `${ino} ${ctimeNs}`;
      deadline = now + abandonedAfterMs;
    } else if (now >= deadline) {
      rmSync(path, { force: true });
    }
    await sleep(retryAfterMs);
  }
}
