import { checkFunctionOption, checkOptionNames } from '../model/options.ts';
import { guardHook } from '../model/guard-hook.ts';
import type { Authenticate } from '../model/caller.ts';
import { TokenGrants } from './grants.ts';

/** Options of {@link createTokenFileAuthenticator}. */
export interface TokenFileOptions {
  /** Called with a sentence if the file cannot be used or other users can read it; default `console.error`. */
  onWarning?: (message: string) => void;
}

/**
 * Returns an `authenticate` function that reads a tokens file, as written by `plant-store token`. It
 * looks up a token by its SHA-256, so that timing reveals nothing about valid tokens. Changes to the file
 * take effect within a second. If the file becomes invalid, the problem is reported and the last valid
 * tokens stay in force. If the file is removed, no token is accepted. If a changed file cannot be read
 * for 5 seconds (too many open files, a failing disk), every token is refused with `storage_unavailable`
 * until the file can be read, because the change may be a revocation.
 *
 * @throws {Error} if the file is missing or invalid when the function is created.
 */
export function createTokenFileAuthenticator(path: string, options: TokenFileOptions = {}): Authenticate {
  checkOptionNames('createTokenFileAuthenticator', options, { onWarning: true } satisfies Record<
    keyof TokenFileOptions,
    true
  >);
  const { onWarning = printWarning } = options;
  checkFunctionOption('onWarning', onWarning);
  const grants = new TokenGrants(path, guardHook('onWarning', onWarning, printWarning));
  return (token) => grants.callerOf(token);
}

function printWarning(message: string): void {
  console.error(message);
}
