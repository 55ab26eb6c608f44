import type { PlantStore } from '../../store/plant-store.ts';
import { createHandler } from '../handler.ts';
import type { ServiceOptions } from '../service-options.ts';
import { checkRequest, FetchRequest } from './fetch-request.ts';
import { ResponseFactory } from './response.ts';

/**
 * Creates a function from `Request` to `Response` for the whole service, for every framework and runtime that uses
 * these WHATWG classes: Hono, Next.js, SvelteKit, srvx, Bun, Deno and others. It does not import node:http.
 *
 * If the service is reached under a prefix, set `basePath` to it, whether or not the framework removes the prefix from
 * `request.url`. Pass the function a request whose body has not been read.
 *
 * The function rejects only if its argument is not a Request. Long lists are streamed with back-pressure. A client that
 * disconnects, as `request.signal` or the stream of the body reports it, ends the reading of a body or a list.
 *
 * The function does not see the connection. The host server must:
 * - handle pipelined requests of a connection in order (RFC 9112 §9.3.2);
 * - limit the size of headers, the number of connections, and the time to receive a header and a body;
 * - refuse malformed requests, also those with a repeated `Host`, `Authorization` or `Content-Length`;
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
