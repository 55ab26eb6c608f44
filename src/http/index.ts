/// <reference types="node" preserve="true" />
export type { Authenticate, Caller } from './bearer.ts';
export { createRequestListener } from './listener.ts';
export type { FailedRequest, RequestListenerOptions } from './listener.ts';
export { openApiDocument } from './openapi.ts';
export type { JsonObject } from './openapi.ts';
export type { Scope } from './routes.ts';
export { createPlantServer, drainServer } from './server.ts';
export { authenticateByTokenFile } from '../tokens/authenticator.ts';
export type { TokenFileOptions } from '../tokens/authenticator.ts';
