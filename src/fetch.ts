/**
 * The service as a function from `Request` to `Response`.
 *
 * @module plant-store/fetch
 */

export { createFetchHandler } from './http/fetch/fetch-handler.ts';
export type { FailedRequest, ServiceOptions } from './http/service-options.ts';
export type { Authenticate, Caller, Scope } from './model/caller.ts';
