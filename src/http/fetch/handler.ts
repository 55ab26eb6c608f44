import type { PlantStore } from '../../core/plant-store.ts';
import type { ServiceOptions } from '../options.ts';
import { createService } from '../service.ts';
import { FetchRequest } from './request.ts';
import { createResponse } from './response.ts';

/**
 * Creates the HTTP service as a function that accepts a WHATWG `Request` and returns a promise for a `Response`, for
 * Hono, Next.js, SvelteKit, srvx, Bun, Deno and others. It does not import node:http.
 *
 * If clients reach the service under a prefix, set `basePath` to this prefix, even if the framework removes it from
 * `request.url`. Pass the request before its body is read. When `request.signal` is aborted, or when a body stream is
 * canceled or fails, the service stops reading the request body or the list.
 *
 * The server that calls the function must:
 * - handle the pipelined requests of a connection in order (RFC 9112 §9.3.2);
 * - limit the size of headers, the number of connections, and the time in which a header and a body must arrive;
 * - refuse malformed requests, including those with a repeated `Host`, `Authorization` or `Content-Length`;
 * - discard the unread part of a request body, so that the client receives the response;
 * - abort `request.signal` or cancel the response body when the client disconnects; and
 * - respect back-pressure.
 *
 * @throws {TypeError} if an option is invalid; the message names it.
 * @example
 * const plants = createFetchHandler(store, { authenticate });
 * const response = await plants(new Request('http://localhost/plants', { headers: { authorization: 'Bearer …' } }));
 */
export function createFetchHandler(
  store: PlantStore,
  options: ServiceOptions,
): (request: Request) => Promise<Response> {
  const service = createService('createFetchHandler', store, options);
  return async (request) => createResponse(await service.answer(new FetchRequest(request)), request);
}
