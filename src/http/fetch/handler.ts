import type { ServiceOptions, ServiceStore } from '../options.ts';
import { createService } from '../service.ts';
import { FetchRequest } from './request.ts';
import { createResponse } from './response.ts';

/**
 * Creates the HTTP service as a function that accepts a WHATWG `Request` and returns a promise for a `Response`, for
 * Hono, Next.js, SvelteKit, srvx, Bun, Deno and others. It does not import node:http.
 *
 * If clients reach the service under a prefix, set `basePath` to this prefix, even if the framework removes it from
 * `request.url`. Pass the request before its body is read. docs/integrations.md lists what the server that calls the
 * function must do itself, such as limiting connections and refusing malformed requests.
 *
 * @throws {TypeError} if an option is invalid; the message names it.
 * @example
 * const plants = createFetchHandler(store, { authenticate });
 * const response = await plants(new Request('http://localhost/plants', { headers: { authorization: 'Bearer …' } }));
 */
export function createFetchHandler(
  store: ServiceStore,
  options: ServiceOptions,
): (request: Request) => Promise<Response> {
  const service = createService(store, options);
  return async (request) => createResponse(await service.answer(new FetchRequest(request)), request);
}
