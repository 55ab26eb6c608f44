import { checkFunctionOption, checkOptionNames } from '../model/options.ts';
import { guardHook } from '../model/guard-hook.ts';
import type { Authenticate } from '../model/caller.ts';
import { TokenGrants } from './grants.ts';

/** How an `authenticate` on a tokens file works. */
export interface TokenFileOptions {
  /** Gets one sentence where the file cannot be used or others can read it. Default: `console.error`. */
  onProblem?: (message: string) => void;
}

/**
 * An `authenticate` on a tokens file as `plant-store token` writes it. It looks a token up by its
 * SHA-256, so that timing tells nothing of how nearly right a token was, and takes changes of the
 * file within a second. A file that turned invalid is reported and the last good one kept; where
 * the file was removed, no token is accepted. If a changed file cannot be read for 5 seconds (too
 * many open files, a disk that fails), every token is refused with `storage_unavailable` until it
 * can be read: the change may be a revocation.
 *
 * @throws {Error} where the file is missing or invalid to begin with.
 */
export function authenticateByTokenFile(path: string, options: TokenFileOptions = {}): Authenticate {
  checkOptionNames('authenticateByTokenFile', options, { onProblem: true } satisfies Record<keyof TokenFileOptions, true>);
  const { onProblem = printProblem } = options;
  checkFunctionOption('onProblem', onProblem);
  const grants = new TokenGrants(path, guardHook('onProblem', onProblem, printProblem));
  return (token) => grants.callerOf(token);
}

function printProblem(message: string): void {
  console.error(message);
}
