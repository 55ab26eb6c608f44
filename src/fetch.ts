/**
 * The HTTP service as a function that accepts a `Request` and returns a `Response`.
 *
 * @module plant-store/fetch
 */

export { createFetchHandler } from './http/fetch/handler.ts';
export type { FetchHandler } from './http/fetch/handler.ts';
export type { FailedRequest, ServiceOptions, ServiceStore } from './http/options.ts';
export type { RequestMessage } from './http/trace.ts';
export type { Authenticate, AuthRequest, Caller, Scope } from './boundary/caller.ts';
