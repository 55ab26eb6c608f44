import { statSync } from 'node:fs';
import { checkFunctionOption, checkOptionNames } from '../check-option.ts';
import { guardHook } from '../guard-hook.ts';
import type { Authenticate, Caller } from './bearer.ts';
import { readTokenFile } from './token-file.ts';
import { tokenDigest } from './token.ts';

/** How an `authenticate` on a tokens file works. */
export interface TokenFileOptions {
  /** Gets one sentence where the file cannot be used or others can read it. Default: `console.error`. */
  onProblem?: (message: string) => void;
}

/** Changes of the file count after this time at the latest. */
const checkIntervalMs = 500;

interface Grant {
  readonly caller: Caller;
  readonly expiresAtMs: number;
}

/**
 * An `authenticate` on a tokens file as `plant-store token` writes it. It looks a token up by its
 * SHA-256, so that timing tells nothing of how nearly right a token was, and takes changes of the
 * file within a second. A file that turned invalid is reported and the last good one kept; where
 * the file was removed, no token is accepted.
 *
 * @throws {Error} where the file is missing or invalid to begin with.
 */
export function authenticateByTokenFile(path: string, options: TokenFileOptions = {}): Authenticate {
  checkOptionNames('authenticateByTokenFile', options, { onProblem: true } satisfies Record<keyof TokenFileOptions, true>);
  checkFunctionOption('onProblem', options.onProblem ?? printProblem);
  const onProblem = guardHook('onProblem', options.onProblem ?? printProblem, printProblem);
  let signature = fileSignature(path);
  let grants = loadGrants(path, onProblem);
  let isFresh = false;
  // A timer, because to look at the clock for each request costs more.
  const stayFresh = (): void => {
    isFresh = true;
    setTimeout(() => { isFresh = false; }, checkIntervalMs).unref();
  };
  /** What tokens seen before stand for, so that each is hashed once: one at most for each grant. */
  const verified = new Map<string, Grant>();

  let reported = '';

  const refresh = (): void => {
    const current = fileSignature(path);
    if (current === signature) return;
    verified.clear();
    try {
      grants = current === 'absent' ? new Map<string, Grant>() : loadGrants(path, onProblem);
      // Only now: what hindered the reading may pass without a change of the file.
      signature = current;
      reported = '';
    } catch (error) {
      const problem = `${(error as Error).message} The tokens read before stay in force.`;
      if (problem !== reported) onProblem(problem);
      reported = problem;
    }
    if (current === 'absent') onProblem(`${path} was removed: no token is accepted.`);
  };

  stayFresh();
  return (token) => {
    if (!isFresh) {
      refresh();
      stayFresh();
    }
    let grant = verified.get(token);
    if (grant === undefined) {
      grant = grants.get(tokenDigest(token));
      if (grant === undefined) return null;
      verified.set(token, grant);
    }
    return grant.expiresAtMs > Date.now() ? grant.caller : null;
  };
}

function printProblem(message: string): void {
  console.error(message);
}

function loadGrants(path: string, onProblem: (message: string) => void): Map<string, Grant> {
  const records = readTokenFile(path);
  if ((statSync(path).mode & 0o077) !== 0) {
    onProblem(`${path} is open to other users of this machine: make it yours alone (chmod 600).`);
  }
  return new Map(
    records.map(({ user, sha256, scopes, expiresAt }) => {
      const caller: Caller = scopes === undefined ? { user } : { user, scopes };
      return [sha256, { caller, expiresAtMs: expiresAt === undefined ? Infinity : Date.parse(expiresAt) }];
    }),
  );
}

/** Differs whenever the file was replaced, written to, or came out of reach. */
function fileSignature(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? 'absent' : code;
  }
}
