import type { PlantStore } from '../../store/plant-store.ts';
import { createHandler } from '../handler.ts';
import type { ServiceOptions } from '../service-options.ts';
import { checkRequest, FetchRequest } from './fetch-request.ts';
import { ResponseFactory } from './response.ts';

/**
 * Creates a function from `Request` to `Response` for the whole service, for every framework and runtime that uses
 * these WHATWG classes: Hono, Next.js, SvelteKit, srvx, Bun, Deno and others. The function does not import node:http.
 *
 * If clients reach the service under a prefix, set `basePath` to this prefix, even if the framework removes it from
 * `request.url`. Pass the function a request whose body has not been read.
 *
 * The function rejects only if its argument is not a Request. Long lists are streamed with back-pressure. When
 * `request.signal` or the stream of a body reports that the client has disconnected, the function stops reading the
 * request body or the list.
 *
 * The function has no access to the connection. So the host server, which calls the function, must:
 * - handle pipelined requests of a connection in order (RFC 9112 §9.3.2);
 * - limit the size of headers, the number of connections, and the time to receive a header and a body;
 * - refuse malformed requests, including those with a repeated `Host`, `Authorization` or `Content-Length`;
 * - discard the rest of a body that has not been read, so that the client receives the response;
 * - abort `request.signal` or cancel the response's body when the client disconnects, and respect back-pressure.
 *
 * The server that `createPlantServer` returns does all of this.
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
  const handler = createHandler('createFetchHandler', store, options);
  const responses = new ResponseFactory(handler.unsent);
  return async (request) => {
    checkRequest(request);
    const serviceRequest = new FetchRequest(request);
    const answer = await handler.answer(serviceRequest);
    return responses.create(answer, request, (error) => {
      handler.report(error, serviceRequest);
    });
  };
}
