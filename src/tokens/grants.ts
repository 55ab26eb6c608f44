import { statSync } from 'node:fs';
import { PlantStoreError } from '../core/model/errors.ts';
import type { Caller } from '../core/model/caller.ts';
import { isReadFailure, readTokenFile, visitTokenFile } from './token-file.ts';
import type { TokenRecord } from './token-file.ts';
import { tokenDigest } from './token.ts';

/** The minimum time between two checks for changes to the file, in milliseconds. */
const checkIntervalMs = 500;
/**
 * The maximum age of the last completed check for changes, in milliseconds. If the last check is older and a changed
 * file is being read, lookups wait until the file has been read.
 */
const maxAgeMs = 1000;
/** How long the last valid tokens are still accepted while a changed file cannot be read, in milliseconds. */
const unreadableGraceMs = 5000;

interface Grant {
  readonly caller: Caller;
  readonly expiresAtMs: number;
}

/** The state of a tokens file, not including its content. */
type FileState =
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'file'; readonly signature: string; readonly isAccessibleToOthers: boolean };

/**
 * Maps the tokens in a tokens file to callers. The file is checked for changes during lookups, not at regular
 * intervals, so an instance that is not used does no work.
 */
export class TokenGrants {
  readonly #path: string;
  readonly #onWarning: (message: string) => void;
  #grants: ReadonlyMap<string, Grant>;
  /**
   * Caches the grants of tokens that have been looked up, so that each valid token is hashed only once. Contains at
   * most one entry per grant.
   */
  readonly #verified = new Map<string, Grant>();
  /** The signature of the file version from which the grants were read; `absent` if the file was removed. */
  #signature: string;
  #isFresh = false;
  /** The start time of the last completed check, from `performance.now()`. */
  #checkedAtMs = performance.now();
  #loading: Promise<void> | undefined;
  #unreadableSinceMs: number | undefined;
  #isRefusing = false;
  /** The last reported problem with the content of the file. The same problem is not reported twice in a row. */
  #reported = '';

  /** @throws {Error} if the file does not exist or is invalid. */
  constructor(path: string, onWarning: (message: string) => void) {
    this.#path = path;
    this.#onWarning = onWarning;
    const state = stateOf(path);
    this.#grants = new Map(readTokenFile(path).map((record) => [record.sha256, grantOf(record)]));
    this.#signature = state.kind === 'file' ? state.signature : '';
    this.#warnIfOpen(state);
    this.#stayFresh();
  }

  /**
   * Returns the caller that a token identifies, or `null` if the token is unknown or expired.
   *
   * @throws {PlantStoreError} `storage_unavailable` if a changed file could not be read for 5 seconds, because the
   *   change might revoke a token.
   */
  callerOf(token: string): Caller | null | Promise<Caller | null> {
    if (!this.#isFresh) {
      this.#check();
      this.#stayFresh();
    }
    if (this.#loading !== undefined && performance.now() - this.#checkedAtMs > maxAgeMs) {
      return this.#loading.then(() => this.#lookUp(token));
    }
    return this.#lookUp(token);
  }

  #lookUp(token: string): Caller | null {
    if (this.#isRefusing) throw new PlantStoreError('storage_unavailable');
    let grant = this.#verified.get(token);
    if (grant === undefined) {
      grant = this.#grants.get(tokenDigest(token));
      if (grant === undefined) return null;
      this.#verified.set(token, grant);
    }
    return grant.expiresAtMs > Date.now() ? grant.caller : null;
  }

  /**
   * Prevents further checks for `checkIntervalMs`. Uses a timer, because reading the clock for each request would be
   * slower.
   */
  #stayFresh(): void {
    this.#isFresh = true;
    setTimeout(() => {
      this.#isFresh = false;
    }, checkIntervalMs).unref();
  }

  #check(): void {
    if (this.#loading !== undefined) return;
    const startMs = performance.now();
    const state = stateOf(this.#path);
    if (state.kind === 'failed') {
      this.#failToRead(state.message);
    } else if (state.kind === 'absent') {
      if (this.#signature !== 'absent' || this.#isRefusing) {
        this.#onWarning(`${this.#path} was removed: no token is accepted.`);
      }
      this.#isRefusing = false;
      this.#use('absent', new Map());
    } else if (state.signature === this.#signature) {
      this.#noteReadable();
    } else {
      this.#loading = this.#load(state).finally(() => {
        this.#loading = undefined;
        this.#checkedAtMs = startMs;
      });
      return;
    }
    this.#checkedAtMs = startMs;
  }

  /** Reads the changed file. The old grants stay in force until all new grants have been read. Never rejects. */
  async #load(state: FileState & { readonly kind: 'file' }): Promise<void> {
    const grants = new Map<string, Grant>();
    try {
      await visitTokenFile(this.#path, (record) => grants.set(record.sha256, grantOf(record)));
      this.#warnIfOpen(state);
      this.#use(state.signature, grants);
    } catch (error) {
      const { message } = error as Error;
      if (isReadFailure(error as Error)) this.#failToRead(message);
      else this.#failToUse(message);
    }
  }

  #use(signature: string, grants: ReadonlyMap<string, Grant>): void {
    this.#noteReadable();
    this.#reported = '';
    if (this.#signature === signature) return;
    this.#signature = signature;
    this.#grants = grants;
    this.#verified.clear();
  }

  /**
   * Reports that the content of the file is invalid. Does not store the signature, so that the next check reads the
   * file again. The problem can disappear without a change to the signature.
   */
  #failToUse(message: string): void {
    this.#noteReadable();
    const problem = `${message} ${this.#accepted()}.`;
    if (problem !== this.#reported) this.#onWarning(problem);
    this.#reported = problem;
  }

  #failToRead(message: string): void {
    const now = performance.now();
    if (this.#unreadableSinceMs === undefined) {
      this.#unreadableSinceMs = now;
      this.#onWarning(`${message} ${this.#accepted(` for ${unreadableGraceMs / 1000} seconds`)}.`);
    } else if (!this.#isRefusing && now - this.#unreadableSinceMs >= unreadableGraceMs) {
      this.#isRefusing = true;
      this.#onWarning(`${message} Requests with a token are rejected with 503 until the file can be read.`);
    }
  }

  /** Returns the part of a warning that says which tokens are accepted while the file cannot be used. */
  #accepted(duration = ''): string {
    return this.#signature === 'absent' ? 'No token is accepted' : `The last valid tokens stay in force${duration}`;
  }

  #noteReadable(): void {
    if (this.#isRefusing) this.#onWarning(`${this.#path} can be read again.`);
    this.#unreadableSinceMs = undefined;
    this.#isRefusing = false;
  }

  #warnIfOpen(state: FileState): void {
    if (state.kind !== 'file' || !state.isAccessibleToOthers) return;
    this.#onWarning(
      `${this.#path} can be accessed by other users of this machine: change its permissions (chmod 600).`,
    );
  }
}

function grantOf({ id, user, scopes, expiresAt }: TokenRecord): Grant {
  const caller: Caller = { user, tokenId: id, ...(scopes !== undefined && { scopes }) };
  return { caller, expiresAtMs: expiresAt === undefined ? Infinity : Date.parse(expiresAt) };
}

/** Returns the state of a file. The signature changes whenever the file is replaced or written to. */
function stateOf(path: string): FileState {
  try {
    const { ino, size, mtimeNs, ctimeNs, mode } = statSync(path, { bigint: true });
    return {
      kind: 'file',
      signature: `${ino} ${size} ${mtimeNs} ${ctimeNs}`,
      isAccessibleToOthers: (mode & 0o077n) !== 0n,
    };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? { kind: 'absent' } : { kind: 'failed', message: `${path} cannot be used: ${message}.` };
  }
}
