/**
 * Bearer tokens from a tokens file, for services that are not run by `plant-store serve`.
 *
 * @module plant-store/tokens
 */

export type { Authenticate, AuthRequest, Caller, Scope } from './boundary/caller.ts';
export { createTokenFileAuthenticator } from './tokens/grants.ts';
export type { TokenFileOptions } from './tokens/grants.ts';
