import { closeSync, existsSync, fchownSync, fstatSync, fsyncSync, lstatSync, openSync } from 'node:fs';
import { realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { requireFolderOf, syncFolder } from '../files/folder.ts';
import { readTokenFile, tokenFileText } from './token-file.ts';
import type { TokenRecord } from './token-file.ts';
import { mintToken, randomBase62, tokenDigest } from './token.ts';

const lockTimeoutMs = 5000;
const retryAfterMs = 20;

export type TokenGrant = Pick<TokenRecord, 'user' | 'scopes' | 'expiresAt'>;

/** Creates the tokens file if it does not exist. The grant must be valid. */
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

/** Changes the tokens file atomically and durably, and keeps its owner. The unfinished new file is also the lock. */
function changeTokenFile(given: string, change: (records: TokenRecord[]) => TokenRecord[] | undefined): void {
  requireFolderOf(given, 'tokens file');
  // The new file is named after the real path, so that all symbolic links to a tokens file share one lock.
  const path = existsSync(given) ? realpathSync(given) : given;
  const newPath = `${path}.new`;
  const file = createNewFile(newPath);
  // The new file may have been removed by hand, and another command may then have created its own.
  const isOurs = (): boolean => lstatSync(newPath, { throwIfNoEntry: false })?.ino === fstatSync(file).ino;
  try {
    const changed = change(existsSync(path) ? readTokenFile(path) : []);
    if (changed === undefined) return;
    writeFileSync(file, tokenFileText(changed));
    keepOwner(path, file);
    fsyncSync(file);
    if (!isOurs()) throw new Error(`${newPath} was removed: the tokens file is unchanged. Try again.`);
    renameSync(newPath, path);
  } finally {
    if (isOurs()) rmSync(newPath);
    closeSync(file);
  }
  syncFolder(dirname(path));
}

/** Waits while another process is changing the tokens file. */
function createNewFile(path: string): number {
  const deadline = performance.now() + lockTimeoutMs;
  for (;;) {
    try {
      // The flag `x` also refuses a symbolic link.
      return openSync(path, 'wx', 0o600);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
      if (performance.now() >= deadline) {
        throw new Error(`${path} exists. Remove it, unless another command is changing the tokens file.`, { cause });
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryAfterMs);
    }
  }
}

/**
 * Uses the file descriptor: through the path, root could make another account the owner of the target of a link that
 * this account has put there.
 */
function keepOwner(path: string, file: number): void {
  const old = lstatSync(path, { throwIfNoEntry: false });
  const { uid, gid } = fstatSync(file);
  if (old !== undefined && (old.uid !== uid || old.gid !== gid)) fchownSync(file, old.uid, old.gid);
}
