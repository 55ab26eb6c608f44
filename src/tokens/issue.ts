import { randomInt } from 'node:crypto';
import { closeSync, fchmodSync, fchownSync, fstatSync, fsyncSync, openSync, statSync } from 'node:fs';
import { realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasFile, requireAccess, requireFolderOf, syncFolder } from '../files/file.ts';
import { readTokenFile, tokenDigest, tokenFileText } from './token-file.ts';
import type { TokenRecord } from './token-file.ts';

const lockTimeoutMs = 5000;
const retryAfterMs = 20;

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 36 base62 digits have log2(62^36) ≈ 214 bits of entropy. */
export function mintToken(): string {
  return `pst_${randomBase62(36)}`;
}

function randomBase62(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}

/**
 * Creates the tokens file if it does not exist. `grant` must be valid. `deliver` shows or saves the token. It runs
 * before the token is stored, so that every stored token has been delivered.
 */
export async function issueToken(
  path: string,
  grant: Pick<TokenRecord, 'user' | 'scopes' | 'expiresAt'>,
  deliver: (token: string) => void | Promise<void> = () => undefined,
): Promise<{ token: string; record: TokenRecord }> {
  const token = mintToken();
  const record: TokenRecord = {
    id: `tk_${randomBase62(10)}`,
    ...grant,
    sha256: tokenDigest(token),
    createdAt: new Date().toISOString(),
  };
  await changeTokenFile(
    path,
    (records) => [...records, record],
    () => deliver(token),
  );
  return { token, record };
}

/** Removes the token with this id or value from the file. Returns the id, or `undefined` if there is no such token. */
export async function revokeToken(path: string, token: string): Promise<string | undefined> {
  const digest = tokenDigest(token);
  const found = readToRevoke(path).find(({ id, sha256 }) => id === token || sha256 === digest);
  if (found === undefined) return undefined;
  await changeTokenFile(path, (records) => records.filter(({ sha256 }) => sha256 !== found.sha256));
  return found.id;
}

function readToRevoke(path: string): TokenRecord[] {
  try {
    return readTokenFile(path);
  } catch (cause) {
    throw new Error(`${(cause as Error).message} No token was revoked.`, { cause });
  }
}

/**
 * Replaces the tokens file atomically and durably. `beforeStore` runs directly before the new file is renamed. The new
 * file is also the lock.
 */
async function changeTokenFile(
  path: string,
  change: (records: TokenRecord[]) => TokenRecord[],
  beforeStore: () => void | Promise<void> = () => undefined,
): Promise<void> {
  requireFolderOf(path, 'tokens file');
  // The new file is named after the real path, so that all symbolic links to a tokens file share one lock.
  const realPath = hasFile(path) ? realpathSync(path) : resolve(path);
  const folder = dirname(realPath);
  requireAccess([folder], 'write');
  const newPath = `${realPath}.new`;
  const file = await createNewFile(newPath);
  try {
    const old = statSync(realPath, { throwIfNoEntry: false });
    writeFileSync(file, tokenFileText(change(old === undefined ? [] : readTokenFile(realPath))));
    // A server that runs as another account must still be able to read the file.
    if (old !== undefined && process.geteuid?.() === 0) fchownSync(file, old.uid, old.gid);
    // If the group differs, its members must not gain access.
    if (fstatSync(file).gid === old?.gid) fchmodSync(file, old.mode & 0o640);
    fsyncSync(file);
    await beforeStore();
    renameSync(newPath, realPath);
  } catch (error) {
    rmSync(newPath, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  syncFolder(folder);
}

/** Waits while another process is changing the tokens file. */
async function createNewFile(path: string): Promise<number> {
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
      await sleep(retryAfterMs);
    }
  }
}
