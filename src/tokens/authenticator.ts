import { resolve } from 'node:path';
import { checkFunctionOption, checkOptionNames, guardHook } from '../boundary/options.ts';
import type { Caller } from '../boundary/caller.ts';
import { TokenGrants } from './grants.ts';

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
 * @throws {Error} if the file does not exist, is invalid, has another hard link or is mounted without its folder when
 *   `createTokenFileAuthenticator` is called.
 * @example
 * const server = createPlantServer(store, { authenticate: createTokenFileAuthenticator('tokens.json') });
 */
export function createTokenFileAuthenticator(
  path: string,
  options: TokenFileOptions = {},
): (token: string) => Caller | null {
  checkOptionNames('createTokenFileAuthenticator', options, ['onWarning']);
  const { onWarning = printWarning } = options;
  checkFunctionOption('onWarning', onWarning);
  const grants = new TokenGrants(resolve(path), guardHook('onWarning', onWarning, printWarning));
  return grants.find.bind(grants);
}

function printWarning(message: string): void {
  console.error(message);
}
