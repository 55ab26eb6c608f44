import { closeSync, fchownSync, fsyncSync, lstatSync, openSync } from 'node:fs';
import { realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { requireAccess } from '../files/access.ts';
import { requireFolderOf, syncFolder } from '../files/folder.ts';
import { hasTokenFile, readTokenFile, tokenFileText } from './token-file.ts';
import type { TokenRecord } from './token-file.ts';
import { mintToken, randomBase62, tokenDigest } from './token.ts';

const lockTimeoutMs = 5000;
const retryAfterMs = 20;

export type TokenGrant = Pick<TokenRecord, 'user' | 'scopes' | 'expiresAt'>;

export interface IssuedToken {
  readonly token: string;
  readonly record: TokenRecord;
}

/**
 * Creates the tokens file if it does not exist. The grant must be valid. `deliver` shows or saves the token. It runs
 * before the token is stored, so that every stored token has been delivered.
 */
export async function issueToken(
  path: string,
  { user, scopes, expiresAt }: TokenGrant,
  deliver: (issued: IssuedToken) => void | Promise<void> = () => undefined,
): Promise<IssuedToken> {
  const token = mintToken();
  const record: TokenRecord = {
    id: `tk_${randomBase62(10)}`,
    user,
    sha256: tokenDigest(token),
    ...(scopes && { scopes }),
    createdAt: new Date().toISOString(),
    ...(expiresAt !== undefined && { expiresAt }),
  };
  const change = new TokenFileChange(path);
  try {
    change.write([...change.read(), record]);
    await deliver({ token, record });
    change.store();
  } finally {
    change.end();
  }
  return { token, record };
}

/** Removes the token with this id or value from the file. Returns the id, or `undefined` if there is no such token. */
export function revokeToken(path: string, token: string): string | undefined {
  requireTokenFile(path);
  const digest = tokenDigest(token);
  const change = new TokenFileChange(path);
  try {
    const records = change.read();
    const found = records.find(({ id, sha256 }) => id === token || sha256 === digest);
    if (found === undefined) return undefined;
    change.write(records.filter((record) => record !== found));
    change.store();
    return found.id;
  } finally {
    change.end();
  }
}

export function requireTokenFile(path: string): void {
  requireFolderOf(path, 'tokens file');
  if (!hasTokenFile(path)) {
    throw new Error(`There is no tokens file ${path}. Check the path, or create a token.`);
  }
}

/** Replaces the tokens file atomically and durably. The unfinished new file is also the lock, until `end` is called. */
class TokenFileChange {
  readonly #path: string;
  readonly #newPath: string;
  readonly #file: number;
  #isStored = false;

  constructor(path: string) {
    requireFolderOf(path, 'tokens file');
    // The new file is named after the real path, so that all symbolic links to a tokens file share one lock.
    this.#path = hasTokenFile(path) ? realpathSync(path) : resolve(path);
    requireAccess([dirname(this.#path)], 'write');
    this.#newPath = `${this.#path}.new`;
    this.#file = createNewFile(this.#newPath);
  }

  read(): TokenRecord[] {
    return hasTokenFile(this.#path) ? readTokenFile(this.#path) : [];
  }

  write(records: readonly TokenRecord[]): void {
    writeFileSync(this.#file, tokenFileText(records));
    const old = lstatSync(this.#path, { throwIfNoEntry: false });
    // A server that runs as another account must still be able to read the file.
    if (old !== undefined && process.geteuid?.() === 0) fchownSync(this.#file, old.uid, old.gid);
    fsyncSync(this.#file);
  }

  store(): void {
    renameSync(this.#newPath, this.#path);
    this.#isStored = true;
    syncFolder(dirname(this.#path));
  }

  end(): void {
    if (!this.#isStored) rmSync(this.#newPath, { force: true });
    closeSync(this.#file);
  }
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
