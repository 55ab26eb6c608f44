/// <reference types="node" preserve="true" />
/**
 * The HTTP service for node:http servers.
 *
 * @module plant-store/http
 */

export { createRequestListener } from './http/node/listener.ts';
export type { ServiceListener } from './http/node/listener.ts';
export { createPlantServer, drainServer } from './http/node/server.ts';
export type { EvictionMessage } from './http/node/connections.ts';
export { createOpenApiDocument } from './http/openapi.ts';
export type { FailedRequest, ServiceOptions, ServiceStore } from './http/options.ts';
export type { RequestMessage } from './http/trace.ts';
export type { Authenticate, AuthRequest, Caller, Scope } from './boundary/caller.ts';
