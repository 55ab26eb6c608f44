import type { Caller } from '../core/model/caller.ts';
import { PlantStoreError } from '../core/model/errors.ts';
import { guardHook } from '../core/model/guard-hook.ts';
import type { PlantStore } from '../core/plant-store.ts';
import { isTraced, requestChannel } from '../core/trace.ts';
import { bodyHeaders, errorAnswer } from './answer.ts';
import type { Answer, FinalAnswer, Sent } from './answer.ts';
import { bearerToken, challenge, checkScope } from './bearer.ts';
import { CallerLookup } from './caller-lookup.ts';
import { Cors } from './cors.ts';
import { HttpError } from './http-error.ts';
import { createOperations } from './operations.ts';
import { Permits } from './permits.ts';
import { RequestTrace } from './request-trace.ts';
import { operationOf, resolveTarget } from './routes.ts';
import type { ResolvedTarget } from './routes.ts';
import { parseServiceOptions, printError } from './service-options.ts';
import type { ServiceOptions } from './service-options.ts';
import type { ServiceRequest } from './service-request.ts';

/** The HTTP service without a server. It returns an answer for each request and does not use sockets. */
export interface Handler {
  /** Handles a request: checks the route, method, credentials and scope, then runs the operation. Never rejects. */
  answer(request: ServiceRequest): Promise<FinalAnswer>;
  /**
   * Returns whether a route exists for a request target. If not, {@link answer} returns the error `route_not_found`.
   */
  hasRoute(target: string): boolean;
  /** Returns the answer for a request that is refused before it is dispatched. */
  refuse(request: ServiceRequest, error: HttpError): FinalAnswer;
}

class Call {
  readonly request: ServiceRequest;
  readonly target: ResolvedTarget;
  /** `undefined` if the channel has no subscribers. */
  readonly trace: RequestTrace | undefined;
  caller: Caller | undefined;
  /** Whether the caller holds a permit for this request. */
  hasPermit = false;

  constructor(request: ServiceRequest, target: ResolvedTarget, trustedProxies: number) {
    this.request = request;
    this.target = target;
    if (isTraced(requestChannel)) this.trace = new RequestTrace(request, target, trustedProxies);
  }

  /** The path template of the route; empty if no route matches. */
  get path(): string {
    return this.target.match?.route.path ?? '';
  }
}

/**
 * Creates the handler for a store. `owner` is the name of the public function that the application called. Error
 * messages contain this name.
 *
 * @throws {TypeError} if an option is invalid; the message names it.
 */
export function createHandler(owner: string, store: PlantStore, options: ServiceOptions): Handler {
  const parsed = parseServiceOptions(owner, store, options);
  const { authenticate, onError, corsOrigin, trustedProxies, basePath, maxBodyBytes, maxInFlight } = parsed;
  const cors = corsOrigin.length === 0 ? undefined : new Cors(corsOrigin);
  const operations = createOperations(store, { basePath, maxBodyBytes });
  const callers = new CallerLookup(authenticate);
  const permits = new Permits<string>(maxInFlight);
  const reportGuarded = guardHook('onError', onError, printError);

  function report(error: unknown, { request, path, trace }: Call): void {
    trace?.fail(error);
    reportGuarded(error, { requestId: request.id, method: request.method, path });
  }

  function begin(request: ServiceRequest): Call {
    return new Call(request, resolveTarget(request.target, basePath), trustedProxies);
  }

  async function answer(request: ServiceRequest): Promise<FinalAnswer> {
    const call = begin(request);
    const decided = call.trace === undefined ? dispatch(call) : call.trace.run(() => dispatch(call));
    return finish(call, await decided);
  }

  async function dispatch(call: Call): Promise<Answer> {
    const { request, target } = call;
    const { match, path, query } = target;
    if (match === undefined) return errorAnswer(new HttpError('route_not_found'));
    const { route, idText, allow } = match;
    if (request.method === 'OPTIONS') {
      return { status: 204, headers: ['Allow', allow, ...(cors?.preflightHeaders(request, allow) ?? [])] };
    }
    const operation = operationOf(route, request.method);
    if (operation === undefined) return errorAnswer(new HttpError('method_not_allowed'), ['Allow', allow]);
    const { id, scope } = operation;
    try {
      if (scope !== undefined) {
        const found = callers.find(bearerToken(request));
        // Most callers are found synchronously. Without `await`, such a request takes one promise less.
        call.caller = found instanceof Promise ? await found : found;
        checkScope(call.caller, scope);
        takePermit(call, call.caller.user);
      }
      return await operations[id]({ request, user: call.caller?.user ?? '', path, query, idText });
    } catch (error) {
      const refusal = errorAnswer(error, challenge(error, scope));
      if (refusal.status >= 500 && !isRefusal(error)) report(error instanceof HttpError ? error.cause : error, call);
      return refusal;
    }
  }

  /** Takes the permit that the request needs until its response has been sent or the client has disconnected. */
  function takePermit(call: Call, user: string): void {
    if (!call.request.isOpen) throw new HttpError('malformed_request');
    if (!permits.take(user)) throw new PlantStoreError('saturated');
    call.hasPermit = true;
  }

  /** Adds the headers of every response to an answer. */
  function finish(call: Call, decided: Answer): FinalAnswer {
    const { request } = call;
    const headers = bodyHeaders(decided.body);
    headers.push('X-Request-Id', request.id);
    if (decided.headers !== undefined) headers.push(...decided.headers);
    if (cors !== undefined) headers.push(...cors.headers(request));
    const onEnd = (sent: Sent): void => {
      if (call.hasPermit && call.caller !== undefined) permits.release(call.caller.user);
      if (sent.error !== undefined) report(sent.error, call);
      call.trace?.end({
        user: call.caller?.user,
        tokenId: call.caller?.tokenId,
        status: decided.status,
        code: decided.error,
        bytes: sent.bytes,
        isComplete: sent.isComplete,
      });
    };
    return { status: decided.status, headers, body: decided.body, onEnd };
  }

  return {
    answer,
    hasRoute: (target) => resolveTarget(target, basePath).match !== undefined,
    refuse: (request, error) => {
      const call = begin(request);
      call.trace?.run(() => undefined);
      return finish(call, errorAnswer(error));
    },
  };
}

/**
 * Returns whether an error means that a request was refused because of overload or shutdown. Such errors are not
 * reported.
 */
function isRefusal(error: unknown): boolean {
  return error instanceof PlantStoreError && (error.code === 'saturated' || error.code === 'closed');
}
