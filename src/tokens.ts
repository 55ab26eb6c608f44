/**
 * Bearer tokens from a tokens file, for services that are not run by `plant-store serve`.
 *
 * @module plant-store/tokens
 */

export type { Authenticate, AuthRequest, Caller, Scope } from './boundary/caller.ts';
export { createTokenFileAuthenticator } from './tokens/authenticator.ts';
export type { TokenFileOptions } from './tokens/authenticator.ts';
