import { requestChannel } from '../model/diagnostics.ts';
import type { RequestMessage } from '../model/diagnostics.ts';
import { PlantStoreError } from '../model/errors.ts';
import { guardHook } from '../model/guard-hook.ts';
import type { PlantStore } from '../store/plant-store.ts';
import { errorAnswer } from './answer.ts';
import type { Answer } from './answer.ts';
import { bearerToken, challenge, checkScope } from './bearer.ts';
import { CallerLookup } from './caller-lookup.ts';
import { Cors } from './cors.ts';
import { HttpError } from './http-error.ts';
import { createOperations } from './operations.ts';
import { resolveTarget } from './routes.ts';
import type { Operation, Route } from './routes.ts';
import { parseServiceOptions, printError } from './service-options.ts';
import type { ServiceOptions } from './service-options.ts';
import type { ServiceRequest } from './service-request.ts';
import { UnsentBytes } from './unsent-bytes.ts';

/** The HTTP service without a server. It returns an {@link Answer} to each request and does not use sockets. */
export interface Handler {
  /** Handles a request: checks the route, method, credentials and scope, then runs the operation. Never rejects. */
  answer(request: ServiceRequest): Promise<Answer>;
  /**
   * Returns whether a route exists for a request target. If not, {@link answer} returns the error `route_not_found`.
   */
  hasRoute(target: string): boolean;
  /** Reports an error that occurs while an answer is being sent. */
  report(error: unknown, request: ServiceRequest): void;
  /** Counts the bytes that clients have not read. The code that sends the answers updates this count. */
  readonly unsent: UnsentBytes;
  readonly maxBodyBytes: number;
  readonly maxInFlight: number;
}

/**
 * Creates the handler for a store. `owner` is the name of the public function that the application called, for error
 * messages.
 *
 * @throws {TypeError} if an option is invalid; the message names it.
 */
export function createHandler(owner: string, store: PlantStore, options: ServiceOptions): Handler {
  const { authenticate, onError, maxUnsentBytes, corsOrigin, ...limits } = parseServiceOptions(owner, store, options);
  const { basePath } = limits;
  const cors = corsOrigin.length === 0 ? undefined : new Cors(corsOrigin);
  const decide = cors === undefined ? dispatch : dispatchWithCors;
  const unsent = new UnsentBytes(maxUnsentBytes);
  const operations = createOperations(store, { ...limits, hasCors: cors !== undefined }, unsent);
  const callers = new CallerLookup(authenticate, limits.maxInFlight);
  const reportGuarded = guardHook('onError', onError, printError);

  function report(error: unknown, request: ServiceRequest): void {
    const { method, target } = request;
    reportGuarded(error, { method, path: resolveTarget(target, basePath).match?.route.path ?? '' });
  }

  async function userOf(request: ServiceRequest, { scope }: Operation, onUser?: OnUser): Promise<string> {
    if (scope === undefined) return '';
    const caller = await callers.find(bearerToken(request));
    onUser?.(caller.user);
    checkScope(caller, scope);
    return caller.user;
  }

  function answer(request: ServiceRequest): Promise<Answer> {
    return requestChannel.hasSubscribers ? answerAndPublish(request) : decide(request);
  }

  async function answerAndPublish(request: ServiceRequest): Promise<Answer> {
    const start = performance.now();
    let user: string | undefined;
    const decided = await decide(request, (found) => {
      user = found;
    });
    const { status, error } = decided;
    requestChannel.publish({
      ...routeOf(request, basePath),
      status,
      error,
      user,
      durationMs: performance.now() - start,
    });
    return decided;
  }

  async function dispatch(request: ServiceRequest, onUser?: OnUser): Promise<Answer> {
    const { path, query, match } = resolveTarget(request.target, basePath);
    if (match === undefined) return errorAnswer(new HttpError('route_not_found'));
    const { route, idText, allow } = match;
    const { method } = request;
    if (method === 'OPTIONS') {
      return { status: 204, headers: ['Allow', allow, ...(cors?.preflightHeaders(request, allow) ?? [])] };
    }
    const operation = operationOf(route, method);
    if (operation === undefined) return errorAnswer(new HttpError('method_not_allowed'), ['Allow', allow]);
    try {
      const user = await userOf(request, operation, onUser);
      return await operations[operation.id]({ request, user, path, query, idText });
    } catch (error) {
      const refusal = errorAnswer(error, challenge(error, operation.scope));
      if (refusal.status >= 500 && !isRefusal(error)) report(error, request);
      return refusal;
    }
  }

  async function dispatchWithCors(request: ServiceRequest, onUser?: OnUser): Promise<Answer> {
    const decided = await dispatch(request, onUser);
    return { ...decided, headers: [...(decided.headers ?? []), ...(cors?.headers(request) ?? [])] };
  }

  function hasRoute(target: string): boolean {
    return resolveTarget(target, basePath).match !== undefined;
  }

  return { answer, hasRoute, report, unsent, maxBodyBytes: limits.maxBodyBytes, maxInFlight: limits.maxInFlight };
}

/** Called with the user who sent a request, as soon as the user has been authenticated. */
type OnUser = (user: string) => void;

function operationOf(route: Route, method: string): Operation | undefined {
  return route.operations[method === 'HEAD' ? 'GET' : method];
}

/** Returns the members of a {@link RequestMessage} that identify the route of a request. */
function routeOf(
  { method, target }: ServiceRequest,
  basePath: string,
): Pick<RequestMessage, 'method' | 'path' | 'operation'> {
  const route = resolveTarget(target, basePath).match?.route;
  return { method, path: route?.path ?? '', operation: route && operationOf(route, method)?.id };
}

/** Returns whether a request was refused because of load or shutdown. Such errors are not reported. */
function isRefusal(error: unknown): boolean {
  return error instanceof PlantStoreError && (error.code === 'saturated' || error.code === 'closed');
}
