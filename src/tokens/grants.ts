import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { PlantStoreError } from '../core/model/errors.ts';
import { requireAccess } from '../files/file.ts';
import type { Caller } from '../boundary/caller.ts';
import { checkFunctionOption, checkOptionNames, guardHook } from '../boundary/options.ts';
import { InvalidTokenFileError, readTokenFile, tokenDigest } from './token-file.ts';
import type { TokenRecord } from './token-file.ts';

const checkIntervalMs = 500;
const absent = 'absent';

/** Options of {@link createTokenFileAuthenticator}. */
export interface TokenFileOptions {
  /** Called with a message if the file cannot be used or other users can access it; default `console.error`. */
  onWarning?: ((message: string) => void) | undefined;
}

/**
 * Returns an `authenticate` function that accepts the tokens in a tokens file, which `plant-store token` writes.
 *
 * Changes to the file take effect within a second.
 * - If the file becomes invalid, the function reports the problem and continues to accept the last valid tokens, so
 *   that a typing error does not lock out all users.
 * - If the file is removed, the function accepts no token until a valid file exists again.
 * - While a changed file cannot be read, has another hard link or is mounted without its folder, the function rejects
 *   every token with `storage_unavailable`.
 *
 * @throws {Error} if the file does not exist, is invalid, has another hard link or is mounted without its folder.
 * @example
 * const server = createPlantServer(store, { authenticate: createTokenFileAuthenticator('tokens.json') });
 */
export function createTokenFileAuthenticator(
  path: string,
  options: TokenFileOptions = {},
): (token: string) => Caller | null {
  checkOptionNames('createTokenFileAuthenticator', options, ['onWarning']);
  const { onWarning = console.error } = options;
  checkFunctionOption('onWarning', onWarning);
  const grants = new TokenGrants(resolve(path), guardHook('onWarning', onWarning, console.error));
  return grants.find.bind(grants);
}

/** Checks the file for changes during lookups and calls of `check`, so an unused instance does no work. */
export class TokenGrants {
  readonly #path: string;
  readonly #onWarning: (message: string) => void;
  readonly #onRecovery: ((message: string) => void) | undefined;
  /** The grants in the file, keyed by the SHA-256 of the token. */
  #grants: ReadonlyMap<string, ReturnType<typeof grantOf>> = new Map();
  #signature = '';
  #checkedAtMs = -Infinity;
  #isUnreadable = false;
  /** Why the file cannot be used, or '' if it can. */
  problem = '';

  constructor(path: string, onWarning: (message: string) => void, onRecovery?: (message: string) => void) {
    this.#path = path;
    this.#onWarning = onWarning;
    this.#onRecovery = onRecovery;
    this.#refresh();
    // Throws an error that says that the file is missing.
    if (this.#signature === absent) readTokenFile(path);
  }

  /** Whether no token is accepted, because the file was removed or cannot be read. */
  get refusesAll(): boolean {
    return this.#isUnreadable || this.#signature === absent;
  }

  /** Throws `storage_unavailable` while a changed file cannot be read, because the change might revoke the token. */
  find(token: string): Caller | null {
    const nowMs = performance.now();
    if (nowMs >= this.#checkedAtMs + checkIntervalMs) {
      this.#checkedAtMs = nowMs;
      this.check();
    }
    if (this.#isUnreadable) throw new PlantStoreError('storage_unavailable');
    const grant = this.#grants.get(tokenDigest(token));
    return grant !== undefined && grant.expiresAtMs > Date.now() ? grant.caller : null;
  }

  /** Reads the file if it has changed. Reports a new problem, and its end. */
  check(): void {
    let problem = '';
    try {
      this.#refresh();
      this.#isUnreadable = false;
      if (this.#signature === absent) {
        problem = `${this.#path} was removed: no token is accepted. Restore the file, or create a token.`;
      }
    } catch (error) {
      this.#isUnreadable = !(error instanceof InvalidTokenFileError);
      let effect = 'The last valid tokens stay in force.';
      if (this.#signature === absent) effect = 'No token is accepted.';
      if (this.#isUnreadable) effect = 'Requests with a token are rejected with 503 until the file can be used.';
      problem = `${(error as Error).message} ${effect}`;
    }
    if (problem === this.problem) return;
    this.problem = problem;
    if (problem === '') this.#onRecovery?.(`${this.#path} is valid again.`);
    else this.#onWarning(problem);
  }

  /** Reads the file if it has changed. A missing file has no tokens. Throws an error if the file cannot be used. */
  #refresh(): void {
    requireAccess([this.#path], 'read');
    const stats = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    // The signature changes whenever the file or its permissions change.
    const signature = stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` : absent;
    if (signature === this.#signature) return;
    const records = stats ? readTokenFile(this.#path) : [];
    this.#grants = new Map(records.map((record) => [record.sha256, grantOf(record)]));
    this.#signature = signature;
    // Members of the file's group may read it: token commands keep this permission.
    if (!stats || (stats.mode & 0o027n) === 0n) return;
    this.#onWarning(
      `${this.#path} can be accessed by other users of this machine: change its permissions (chmod 600).`,
    );
  }
}

function grantOf({ id, user, scopes, expiresAt }: TokenRecord) {
  const caller: Caller = { user, tokenId: id, ...(scopes !== undefined && { scopes }) };
  return { caller, expiresAtMs: expiresAt === undefined ? Infinity : Date.parse(expiresAt) };
}
