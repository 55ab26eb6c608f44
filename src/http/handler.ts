import type { Caller } from '../core/model/caller.ts';
import { isPlantStoreError, PlantStoreError } from '../core/model/errors.ts';
import { guardHook } from '../core/model/guard-hook.ts';
import type { PlantStore } from '../core/plant-store.ts';
import { isTraced, requestChannel } from '../core/trace.ts';
import { bodyHeaders, errorAnswer } from './answer.ts';
import type { Answer, FinalAnswer, Sent } from './answer.ts';
import { bearerToken, challenge, checkScope } from './bearer.ts';
import { findCaller } from './caller-lookup.ts';
import { Cors } from './cors.ts';
import { HttpError } from './http-error.ts';
import { createOperations } from './operations.ts';
import { Permits } from './permits.ts';
import { requestIdOf } from './request-identity.ts';
import { RequestTrace } from './request-trace.ts';
import { operationOf, resolveTarget } from './routes.ts';
import type { Operation, ResolvedTarget } from './routes.ts';
import { parseServiceOptions, printError } from './service-options.ts';
import type { ServiceOptions } from './service-options.ts';
import type { ServiceRequest } from './service-request.ts';

/** The HTTP service, independent of any server. It returns an answer for each request and does not use sockets. */
export interface Handler {
  /**
   * Handles a request: checks the route, method, credentials and scope, then runs the operation. If `refusal` is given,
   * returns the error answer for `refusal` instead. Never rejects.
   */
  answer(request: ServiceRequest, refusal?: HttpError): Promise<FinalAnswer>;
  /** Returns whether a route exists for a request target. If not, {@link answer} returns a `route_not_found` error. */
  hasRoute(target: string): boolean;
}

/** A request in progress. */
class Call {
  readonly request: ServiceRequest;
  readonly requestId: string;
  readonly target: ResolvedTarget;
  /** The trace of the request; `undefined` if the channel has no subscribers. */
  readonly trace: RequestTrace | undefined;
  caller: Caller | undefined;
  /** Whether the caller holds a permit for this request. */
  hasPermit = false;

  constructor(request: ServiceRequest, target: ResolvedTarget, trustedProxies: number) {
    this.request = request;
    this.requestId = requestIdOf(request);
    this.target = target;
    if (!isTraced(requestChannel)) return;
    const { requestId, path, operation } = this;
    this.trace = new RequestTrace(request, { requestId, path, operation: operation?.id }, trustedProxies);
  }

  /** The path template of the route; empty if no route matches. */
  get path(): string {
    return this.target.match?.route.path ?? '';
  }

  /** The operation; `undefined` for OPTIONS or if no operation matches. */
  get operation(): Operation | undefined {
    return this.target.match && operationOf(this.target.match.route, this.request.method);
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
  const permits = new Permits<string>(maxInFlight);
  const reportGuarded = guardHook('onError', onError, printError);

  function report(error: unknown, { request, requestId, path, trace }: Call): void {
    trace?.fail(error);
    reportGuarded(error, { requestId, method: request.method, path });
  }

  function answer(request: ServiceRequest, refusal?: HttpError): Promise<FinalAnswer> {
    const call = new Call(request, resolveTarget(request.target, basePath), trustedProxies);
    return call.trace === undefined ? decide(call, refusal) : call.trace.run(() => decide(call, refusal));
  }

  async function decide(call: Call, refusal?: HttpError): Promise<FinalAnswer> {
    const { request, operation } = call;
    const { match, path, query } = call.target;
    try {
      if (refusal !== undefined) throw refusal;
      if (match === undefined) throw new HttpError('route_not_found');
      if (request.method === 'OPTIONS') return finish(call, optionsAnswer(request, match.allow));
      if (operation === undefined) {
        return finish(call, errorAnswer(new HttpError('method_not_allowed'), ['Allow', match.allow]));
      }
      if (operation.scope !== undefined) {
        const found = findCaller(authenticate, bearerToken(request));
        // Most callers are found synchronously. Skipping `await` for them saves one promise per request.
        call.caller = found instanceof Promise ? await found : found;
        checkScope(call.caller, operation.scope);
        takePermit(call, call.caller.user);
      }
      const user = call.caller?.user ?? '';
      return finish(call, await operations[operation.id]({ request, user, path, query, idText: match.idText }));
    } catch (error) {
      return finish(call, refuse(call, error));
    }
  }

  function optionsAnswer(request: ServiceRequest, allow: string): Answer {
    return { status: 204, headers: ['Allow', allow, ...(cors?.preflightHeaders(request, allow) ?? [])] };
  }

  /**
   * Acquires a permit for the request. The permit is held until the response has been sent or the client has
   * disconnected.
   */
  function takePermit(call: Call, user: string): void {
    if (!call.request.isOpen) throw new HttpError('malformed_request');
    if (!permits.take(user)) throw new PlantStoreError('saturated');
    call.hasPermit = true;
  }

  function refuse(call: Call, error: unknown): Answer {
    const refused = errorAnswer(error, challenge(error, call.operation?.scope));
    if (refused.status >= 500 && !isOverload(error)) report(error instanceof HttpError ? error.cause : error, call);
    return refused;
  }

  /** Completes an answer with the headers that every response has. */
  function finish(call: Call, decided: Answer): FinalAnswer {
    const headers = bodyHeaders(decided.body);
    headers.push('X-Request-Id', call.requestId);
    if (decided.headers !== undefined) headers.push(...decided.headers);
    if (cors !== undefined) headers.push(...cors.headers(call.request));
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

  return { answer, hasRoute: (target) => resolveTarget(target, basePath).match !== undefined };
}

/**
 * Returns whether an error means that a request was refused because of overload or shutdown. Such errors are not
 * reported.
 */
function isOverload(error: unknown): boolean {
  return isPlantStoreError(error) && (error.code === 'saturated' || error.code === 'closed');
}
