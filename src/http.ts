/// <reference types="node" preserve="true" />
export type { Authenticate, Caller } from './http/bearer.ts';
export { createRequestListener } from './http/node/request-listener.ts';
export type { FailedRequest, RequestListenerOptions } from './http/node/request-listener.ts';
export { openApiDocument } from './http/openapi.ts';
export type { JsonObject } from './http/openapi.ts';
export type { Scope } from './http/routes.ts';
export { createPlantServer, drainServer } from './http/node/server.ts';
export { authenticateByTokenFile } from './tokens/authenticator.ts';
export type { TokenFileOptions } from './tokens/authenticator.ts';
