import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../boundary/caller.ts';
import { errorTable, isPlantStoreError, PlantStoreError } from '../core/model/errors.ts';
import { guardHook } from '../boundary/options.ts';
import { int64FromText, parseNewPlant, plantJson } from '../core/model/plant.ts';
import { challenge, findCaller } from './auth.ts';
import { corsHeaders } from './cors.ts';
import { bodyHeaders, checkMediaType, errorBody, HttpError, parseBody, requestIdOf } from './exchange.ts';
import type { Result, ServiceRequest, ServiceResponse } from './exchange.ts';
import { parseListQuery, readList } from './list.ts';
import { createOpenApiDocument } from './openapi.ts';
import { parseServiceOptions, printError } from './options.ts';
import type { AnyOptions, ServiceStore } from './options.ts';
import { isBasePath, resolveTarget } from './routes.ts';
import type { OperationId, ResolvedTarget } from './routes.ts';
import { requestChannel, RequestTrace } from './trace.ts';

/** The HTTP service, independent of any server. It returns a response to each request and does not use sockets. */
export interface Service {
  handle(request: ServiceRequest): Promise<ServiceResponse>;
  hasRoute(target: string): boolean;
  /** Calls the `onError` option. Never throws. */
  report(error: unknown): void;
}

interface Call {
  readonly request: ServiceRequest;
  readonly requestId: string;
  readonly target: ResolvedTarget;
  trace: RequestTrace | undefined;
  caller: Caller | undefined;
  /** The user who holds a permit for this request; `undefined` if the request holds no permit. */
  permitHolder: string | undefined;
}

/** The status in the trace of a request that failed after its client had disconnected. */
const clientGone = 499;

const retryAfterSeconds = 1;

export function createService(store: ServiceStore, options: AnyOptions): Service {
  const parsed = parseServiceOptions(store, options);
  const { authenticate, basePath, corsOrigin, maxBodyBytes, maxInFlight, trustedProxies } = parsed;
  const permits = new Permits(maxInFlight);
  const onError = guardHook('onError', parsed.onError, printError);
  const openApi = openApiJson(basePath);
  // A mount path can come from the request's URL, so it is checked. In a `Link` header, `//` would precede a host, and
  // `>` would end the link.
  const prefixOf = ({ mountPath }: ServiceRequest): string =>
    basePath === '' && isBasePath(mountPath) ? mountPath : basePath;

  function handle(request: ServiceRequest): Promise<ServiceResponse> {
    const target = resolveTarget(request.method, request.target, basePath);
    const requestId = requestIdOf(request);
    const call: Call = { request, requestId, target, trace: undefined, caller: undefined, permitHolder: undefined };
    // Bun implements `hasSubscribers` for the channels, but not for the TracingChannel.
    const { start, asyncEnd, error } = requestChannel;
    if (!(asyncEnd.hasSubscribers || start.hasSubscribers || error.hasSubscribers)) return decide(call);
    call.trace = new RequestTrace(request, requestId, target, trustedProxies);
    return call.trace.run(() => decide(call));
  }

  async function decide(call: Call): Promise<ServiceResponse> {
    const { request, target } = call;
    const { route, operation } = target;
    try {
      request.check?.();
      if (route === undefined) throw new HttpError('route_not_found');
      if (request.method === 'OPTIONS') return finish(call, { status: 204, headers: { Allow: route.allow } });
      if (operation === undefined) throw new HttpError('method_not_allowed');
      if (operation.scope !== undefined) {
        const found = findCaller(authenticate, request, target.path);
        // `await` takes CPU time even if the value is not a promise.
        call.caller = 'then' in found ? await found : found;
        const { user, scopes } = call.caller;
        if (scopes?.includes(operation.scope) === false) throw new HttpError('insufficient_scope');
        // If the client has disconnected, or an earlier response was the last one of the connection, the request must
        // not take effect (RFC 9112 §9.6).
        if (!request.isOpen) throw new HttpError('malformed_request');
        if (!permits.take(user)) throw new PlantStoreError('saturated');
        call.permitHolder = user;
      }
      return finish(call, await operations[operation.id](call, call.caller?.user ?? ''));
    } catch (error) {
      const result = errorResult(call, error);
      // Without this delay, clients that repeat a refused request at once would keep the event loop busy.
      if (result.code === 'saturated') {
        releasePermit(call);
        await sleep(retryAfterSeconds * 1000);
      }
      return finish(call, result);
    }
  }

  const operations: Record<OperationId, (call: Call, user: string) => Result | Promise<Result>> = {
    createPlant: async ({ request }, user) => {
      checkMediaType(request);
      const newPlant = parseNewPlant(parseBody(await request.readBody(maxBodyBytes)));
      return { status: 200, body: plantJson(await store.createPlant(user, newPlant)) };
    },
    getPlants: ({ request, target }, user) =>
      readList(store, user, parseListQuery(target.query), prefixOf(request) + target.path),
    deletePlant: async ({ target }, user) => {
      const id = int64FromText(target.idText);
      if (id === undefined) throw new PlantStoreError('invalid_id');
      if (await store.deletePlant(user, id)) return { status: 204 };
      throw new HttpError('plant_not_found');
    },
    getOpenApi: ({ request }) => {
      const prefix = prefixOf(request);
      return { status: 200, body: prefix === basePath ? openApi : openApiJson(prefix) };
    },
  };

  function errorResult(call: Call, error: unknown): Result {
    const known = publicError(error, call.caller !== undefined) ?? new HttpError('internal');
    const { code } = known;
    const { status } = errorTable[code];
    if (status >= 500 && code !== 'saturated' && code !== 'closed') report(error, call);
    const headers = {
      ...challenge(code, call.target.operation?.scope),
      ...(code === 'method_not_allowed' && { Allow: call.target.route?.allow ?? '' }),
      ...(status === 503 && { 'Retry-After': `${retryAfterSeconds}` }),
    };
    return { status, headers, body: errorBody(known), code };
  }

  function releasePermit(call: Call): void {
    if (call.permitHolder !== undefined) permits.release(call.permitHolder);
    call.permitHolder = undefined;
  }

  function report(error: unknown, call?: Call): void {
    call?.trace?.fail(error);
    const { requestId = '', request, target } = call ?? {};
    onError(error, { requestId, method: request?.method ?? '', path: target?.route?.path ?? '' });
  }

  function finish(call: Call, { status, headers: more, body, code }: Result): ServiceResponse {
    const headers = bodyHeaders(body);
    headers['X-Request-Id'] = call.requestId;
    Object.assign(headers, more);
    if (corsOrigin.length > 0) Object.assign(headers, corsHeaders(corsOrigin, call.request, call.target.route?.allow));
    const isGone = code !== undefined && !call.request.isOpen;
    let hasEnded = false;
    return {
      status,
      headers,
      body,
      onEnd: ({ isComplete, error }) => {
        if (hasEnded) return;
        hasEnded = true;
        releasePermit(call);
        if (error !== undefined) report(error, call);
        const endCode = error === undefined ? code : 'incomplete';
        call.trace?.end({
          user: call.caller?.user,
          tokenId: call.caller?.tokenId,
          status: isGone ? clientGone : status,
          code: isGone ? undefined : endCode,
          isComplete,
        });
      },
    };
  }

  return { handle, report, hasRoute: (target) => resolveTarget('GET', target, basePath).route !== undefined };
}

function openApiJson(prefix: string): string {
  return JSON.stringify(createOpenApiDocument(prefix === '' ? '/' : prefix));
}

/**
 * Returns the error if a client may see it. Until the caller is known, any error other than an HttpError comes from
 * `authenticate`, and clients need to know about it only if they can retry.
 */
function publicError(error: unknown, isCallerKnown: boolean): Pick<PlantStoreError, 'code' | 'message'> | undefined {
  try {
    if (!isPlantStoreError(error)) return undefined;
    const { code, message } = error;
    const isPublic = isCallerKnown || code === 'storage_unavailable' || error instanceof HttpError;
    return isPublic ? { code, message } : undefined;
  } catch {
    // An application can throw any object, even one whose properties cannot be read twice.
    return undefined;
  }
}

/**
 * Limits the number of requests in progress and shares the permits fairly: a user gets another permit only if the user
 * holds fewer permits than are still free. One user can therefore hold half of the permits, and each of two users a
 * third. This algorithm is known as dynamic thresholds (Choudhury and Hahne, 1998).
 */
export class Permits {
  readonly #held = new Map<string, number>();
  #free: number;

  constructor(max: number) {
    this.#free = max;
  }

  take(user: string): boolean {
    const held = this.#held.get(user) ?? 0;
    if (held >= this.#free) return false;
    this.#held.set(user, held + 1);
    this.#free--;
    return true;
  }

  release(user: string): void {
    const held = this.#held.get(user) ?? 0;
    if (held > 1) this.#held.set(user, held - 1);
    else this.#held.delete(user);
    this.#free++;
  }
}
