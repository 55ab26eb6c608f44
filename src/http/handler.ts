import { PlantStoreError } from '../model/errors.ts';
import type { HttpErrorCode } from '../model/errors.ts';
import { guardHook } from '../model/guard-hook.ts';
import type { PlantStore } from '../store/plant-store.ts';
import { errorAnswer } from './answer.ts';
import type { Answer, HeaderList, Sent } from './answer.ts';
import { bearerToken, challenge, checkScope } from './bearer.ts';
import { CallerLookup } from './caller-lookup.ts';
import { Cors } from './cors.ts';
import { HttpError } from './http-error.ts';
import { createOperations } from './operations.ts';
import { RequestRecord } from './request-record.ts';
import type { RouteFacts } from './request-record.ts';
import { resolveTarget } from './routes.ts';
import type { Operation, Route } from './routes.ts';
import { parseServiceOptions, printError } from './service-options.ts';
import type { ServiceOptions } from './service-options.ts';
import type { ServiceRequest } from './service-request.ts';
import { UnsentBytes } from './unsent-bytes.ts';

/** The HTTP service without a server. It returns an {@link Answer} for each request and does not use sockets. */
export interface Handler {
  /** Handles a request: checks the route, method, credentials and scope, then runs the operation. Never rejects. */
  answer(request: ServiceRequest): Promise<Answer>;
  /**
   * Returns whether a route exists for a request target. If not, {@link answer} returns the error `route_not_found`.
   */
  hasRoute(target: string): boolean;
  /** Returns an error answer with the given headers, for a request that is refused before it is dispatched. */
  refuse(request: ServiceRequest, code: HttpErrorCode, headers: HeaderList): Answer;
  /** Reports an error that occurs while an answer is being sent. */
  report(error: unknown, request: ServiceRequest): void;
  /** Counts the response bytes that clients have not read. The code that sends the answers updates this count. */
  readonly unsent: UnsentBytes;
  readonly maxBodyBytes: number;
  readonly maxInFlight: number;
}

/**
 * Creates the handler for a store. `owner` is the name of the public function that the application called. Error
 * messages contain this name.
 *
 * @throws {TypeError} if an option is invalid; the message names it.
 */
export function createHandler(owner: string, store: PlantStore, options: ServiceOptions): Handler {
  const { authenticate, onError, maxUnsentBytes, corsOrigin, trustedProxies, ...limits } = parseServiceOptions(
    owner,
    store,
    options,
  );
  const { basePath } = limits;
  const cors = corsOrigin.length === 0 ? undefined : new Cors(corsOrigin);
  const unsent = new UnsentBytes(maxUnsentBytes);
  const operations = createOperations(store, { ...limits, hasCors: cors !== undefined }, unsent);
  const callers = new CallerLookup(authenticate, limits.maxInFlight);
  const reportGuarded = guardHook('onError', onError, printError);

  function report(error: unknown, request: ServiceRequest): void {
    const { id, method, target } = request;
    reportGuarded(error, { requestId: id, method, path: resolveTarget(target, basePath).match?.route.path ?? '' });
  }

  async function userOf(request: ServiceRequest, { scope }: Operation, record?: RequestRecord): Promise<string> {
    if (scope === undefined) return '';
    const caller = await callers.find(bearerToken(request));
    if (record !== undefined) record.caller = caller;
    checkScope(caller, scope);
    return caller.user;
  }

  async function answer(request: ServiceRequest): Promise<Answer> {
    const record = RequestRecord.begin(request, trustedProxies);
    return identified(request, await dispatch(request, record), record);
  }

  function refuse(request: ServiceRequest, code: HttpErrorCode, headers: HeaderList): Answer {
    const record = RequestRecord.begin(request, trustedProxies);
    return identified(request, errorAnswer(new HttpError(code), headers), record);
  }

  /**
   * Adds the `X-Request-Id` header and the CORS headers to an `Answer`. If `record` is not `undefined`, it is published
   * when the response has been sent or the client has disconnected.
   */
  function identified(request: ServiceRequest, decided: Answer, record: RequestRecord | undefined): Answer {
    const { headers: own = [] } = decided;
    const headers = ['X-Request-Id', request.id, ...own, ...(cors?.headers(request) ?? [])];
    if (record === undefined) return { ...decided, headers };
    const onEnd = (sent: Sent): void => {
      record.publish(decided, sent, routeOf(request, basePath));
    };
    return { ...decided, headers, onEnd };
  }

  async function dispatch(request: ServiceRequest, record?: RequestRecord): Promise<Answer> {
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
      const user = await userOf(request, operation, record);
      return await operations[operation.id]({ request, user, path, query, idText });
    } catch (error) {
      const refusal = errorAnswer(error, challenge(error, operation.scope));
      if (refusal.status >= 500 && !isRefusal(error)) report(error, request);
      return refusal;
    }
  }

  function hasRoute(target: string): boolean {
    return resolveTarget(target, basePath).match !== undefined;
  }

  const { maxBodyBytes, maxInFlight } = limits;
  return { answer, refuse, hasRoute, report, unsent, maxBodyBytes, maxInFlight };
}

function operationOf(route: Route, method: string): Operation | undefined {
  return route.operations[method === 'HEAD' ? 'GET' : method];
}

/** Returns the properties of a request message that describe the route. */
function routeOf({ method, target }: ServiceRequest, basePath: string): RouteFacts {
  const route = resolveTarget(target, basePath).match?.route;
  return { path: route?.path ?? '', operation: route && operationOf(route, method)?.id };
}

/**
 * Returns whether an error means that a request was refused because of overload or shutdown. Such errors are not
 * reported.
 */
function isRefusal(error: unknown): boolean {
  return error instanceof PlantStoreError && (error.code === 'saturated' || error.code === 'closed');
}
