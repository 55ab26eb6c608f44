import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { checkFunctionOption, checkIntegerOption, checkOptionNames } from '../../model/options.ts';
import { errorText } from '../../model/error-text.ts';
import { PlantStoreError } from '../../model/errors.ts';
import { guardHook } from '../../model/guard-hook.ts';
import type { PlantStore } from '../../store/plant-store.ts';
import { errorAnswer } from '../answer.ts';
import type { Answer } from '../answer.ts';
import { bearerToken, challenge, checkScope } from '../bearer.ts';
import type { Authenticate } from '../bearer.ts';
import { checkBasePath } from '../base-path.ts';
import { CallerLookup } from '../caller-lookup.ts';
import { http1Only } from './http1-only.ts';
import { inOrder } from './in-order.ts';
import { isMalformed } from './validation.ts';
import { createOperations } from '../operations.ts';
import { closeLingering } from './refuse-connection.ts';
import { hasEndlessBody } from './request-body.ts';
import { findRoute, splitTarget } from '../routes.ts';
import type { Scope } from '../routes.ts';
import { AnswerSender } from './send-answer.ts';
import { UnsentBytes } from './unsent-bytes.ts';

/** Of the requests that clients send ahead, so many times `maxInFlight` wait for their turn at the most. */
const maxWaitingFactor = 10;

/** How a request listener works. */
export interface RequestListenerOptions {
  /** Tells whom a bearer token stands for. There is no default: no server is open by accident. */
  authenticate: Authenticate;
  /** The most bytes a request body may have, 1 or more; default 65536. Over it: `body_too_large`. */
  maxBodyBytes?: number;
  /** How many levels a request body may nest, 1 or more; default 256. Over it: `invalid_json`. */
  maxBodyDepth?: number;
  /**
   * How many requests the store may be working on at once, 1 or more; default 1000. One more is
   * refused at once: `saturated`. Requests that are still being received, and lists after their
   * first page, do not count. Ten times as many may wait behind others of their connection.
   */
  maxInFlight?: number;
  /**
   * How many ids the lists with a limit over 1000 that are being sent may hold together, 8 bytes
   * each, 1 or more; default 8388608. One user may hold a quarter of it. A further such list is refused: `saturated`.
   */
  maxHeldIds?: number;
  /**
   * How many bytes may be ready for clients that do not take them, 1 or more; default 67108864. One user may take up
   * a quarter of it. Past either, the slowest connections are closed, and new lists are refused: `saturated`.
   */
  maxUnsentBytes?: number;
  /**
   * The path that a proxy in front of this server removes from each request, such as `/garden`. `Link` headers and the
   * OpenAPI document begin with it. Default: none. A mount path that a framework reports in `request.baseUrl`
   * (Express does) is added by itself.
   */
  basePath?: string;
  /**
   * Gets every error for which the client gets a bare 500 or 503, and every error in the middle of a list. It must not
   * throw. Default: writes the error, the method and the path to standard error.
   */
  onError?: (error: unknown, request: FailedRequest) => void;
}

/** What `onError` learns of a request: nothing that a client could have put a secret into. */
export interface FailedRequest {
  /** The method, such as `POST`. */
  readonly method: string;
  /** The path as the OpenAPI document has it, such as `/plants/{id}`; empty if it is not in the document. */
  readonly path: string;
}

const optionNames = {
  authenticate: true,
  maxBodyBytes: true,
  maxBodyDepth: true,
  maxInFlight: true,
  maxHeldIds: true,
  maxUnsentBytes: true,
  basePath: true,
  onError: true,
} as const satisfies Record<keyof RequestListenerOptions, true>;

/**
 * The service as a listener for node:http: `createServer(createRequestListener(store, options))`.
 * It can be mounted in an Express-style app under a prefix (`app.use('/garden', listener)`), before
 * any body parser. It never listens, closes, or changes anything but the response it is given.
 * It supports HTTP/1.1: it refuses the HTTP/2 requests of a node:http2 server.
 *
 * @throws {TypeError} for a wrong option, which it names.
 */
export function createRequestListener(store: PlantStore, options: RequestListenerOptions): RequestListener {
  checkStore(store);
  checkOptionNames('createRequestListener', options, optionNames);
  const {
    authenticate,
    maxBodyBytes = 65_536,
    maxBodyDepth = 256,
    maxInFlight = 1000,
    maxHeldIds = 8_388_608,
    maxUnsentBytes = 67_108_864,
    basePath = '',
    onError = printError,
  } = options;
  checkFunctionOption('authenticate', authenticate);
  checkFunctionOption('onError', onError);
  checkIntegerOption('maxBodyBytes', maxBodyBytes, 1);
  checkIntegerOption('maxBodyDepth', maxBodyDepth, 1);
  checkIntegerOption('maxInFlight', maxInFlight, 1);
  checkIntegerOption('maxHeldIds', maxHeldIds, 1);
  checkIntegerOption('maxUnsentBytes', maxUnsentBytes, 1);
  checkBasePath(basePath);
  const unsent = new UnsentBytes(maxUnsentBytes);
  const operations = createOperations(store, { maxBodyBytes, maxBodyDepth, maxInFlight, maxHeldIds }, unsent, basePath);
  const sender = new AnswerSender(unsent);
  const callers = new CallerLookup(authenticate, maxInFlight);
  const report = guardHook('onError', onError, printError);

  async function userOf(request: IncomingMessage, scope: Scope): Promise<string> {
    const caller = await callers.find(bearerToken(request));
    checkScope(caller, scope);
    return caller.user;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<Answer> {
    if (isMalformed(request)) return errorAnswer(new PlantStoreError('malformed_request'), ['Connection', 'close']);
    const { path, query } = splitTarget(request.url ?? '/');
    const match = findRoute(path);
    if (match === undefined) return errorAnswer(new PlantStoreError('route_not_found'));
    const { route, idText, allow } = match;
    const method = request.method ?? 'GET';
    if (method === 'OPTIONS') return { status: 204, headers: ['Allow', allow] };
    const operation = route.operations[method === 'HEAD' ? 'GET' : method];
    if (operation === undefined) return errorAnswer(new PlantStoreError('method_not_allowed'), ['Allow', allow]);
    try {
      const user = operation.scope === undefined ? '' : await userOf(request, operation.scope);
      return await operations[operation.id]({ request, response, user, path, query, idText });
    } catch (error) {
      const refusal = errorAnswer(error, challenge(error, operation.scope));
      if (refusal.status >= 500 && !isRefusal(error)) report(error, failedRequest(request));
      return refusal;
    }
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let answered: Answer | undefined;
    try {
      answered = await answer(request, response);
      if (response.destroyed) return;
      if (hasEndlessBody(request, maxBodyBytes) || asksForUpgrade(request)) closeAfter(request, response);
      await sender.send(response, answered, request.method === 'HEAD');
    } catch (error) {
      // Whatever part of the answer is out, the client must not take it for the whole.
      response.destroy();
      report(error, failedRequest(request));
    } finally {
      if (typeof answered?.body === 'object') await answered.body.return();
    }
  }

  const listener = inOrder((request, response) => void respond(request, response), maxInFlight * maxWaitingFactor);
  return http1Only(listener, sender, (error, request) => { report(error, failedRequest(request)); });
}

function checkStore(store: Partial<PlantStore> | null | undefined): void {
  if (typeof store?.createPlant !== 'function') throw new TypeError('store must be a PlantStore');
}

function failedRequest({ method = '', url = '' }: IncomingMessage): FailedRequest {
  return { method, path: findRoute(splitTarget(url).path)?.route.path ?? '' };
}

function printError(error: unknown, { method, path }: FailedRequest): void {
  console.error(`${method} ${path} failed: ${errorText(error)}`);
}

/** node:http drops what comes in one piece with such a request, and takes the rest of it for a request of its own. */
function asksForUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined;
}

/** Closes the connection behind an answer that is given while the request still comes. */
function closeAfter({ socket }: IncomingMessage, response: ServerResponse): void {
  response.setHeader('Connection', 'close');
  // By this node:http closes a connection behind its last answer.
  socket.destroySoon = () => { closeLingering(socket); };
}

/** Whether the store itself said no, which is nothing to look into. */
function isRefusal(error: unknown): boolean {
  return error instanceof PlantStoreError && (error.code === 'saturated' || error.code === 'closed');
}
