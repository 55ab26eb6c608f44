import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { checkFunctionOption, checkIntegerOption } from '../check-option.ts';
import { PlantStoreError } from '../errors.ts';
import { int64FromText } from '../int64.ts';
import { plantJson } from '../plant.ts';
import type { PlantId } from '../plant.ts';
import type { PlantStore } from '../plant-store.ts';
import { errorAnswer, sendAnswer } from './answer.ts';
import type { Answer } from './answer.ts';
import { bearerToken, challenge, checkScope } from './bearer.ts';
import type { Authenticate } from './bearer.ts';
import { openApiDocument } from './openapi.ts';
import { plantListAnswer } from './plant-list.ts';
import { hasEndlessBody, readJsonBody } from './request-body.ts';
import type { BodyLimits } from './request-body.ts';
import { findRoute, splitTarget } from './routes.ts';
import type { OperationId, Scope } from './routes.ts';

/** How a request listener works. */
export interface RequestListenerOptions {
  /** Tells whom a bearer token stands for. There is no default: no server is open by accident. */
  authenticate: Authenticate;
  /** The most bytes a request body may have, 1 or more; default 65536. Over it: `body_too_large`. */
  maxBodyBytes?: number;
  /** How many levels a request body may nest, 1 or more; default 256. Over it: `invalid_json`. */
  maxBodyDepth?: number;
  /**
   * Gets every fault of this side, of which the client is told no more than 500 or 503, and
   * failures in the middle of a list. Default: `console.error`.
   */
  onError?: (error: unknown, request: IncomingMessage) => void;
}

/** What an operation works on. */
interface Call {
  readonly request: IncomingMessage;
  readonly user: string;
  readonly path: string;
  readonly query: string;
  readonly idText: string;
}

/**
 * The service as a listener for node:http: `createServer(createRequestListener(store, options))`.
 * It can be mounted in an Express-style app under a prefix (`app.use('/garden', listener)`), before
 * any body parser. It never listens, closes, or changes anything but the response it is given.
 *
 * @throws {TypeError} for a wrong option, which it names.
 */
export function createRequestListener(store: PlantStore, options: RequestListenerOptions): RequestListener {
  const { authenticate, maxBodyBytes = 65_536, maxBodyDepth = 256, onError = console.error } = options;
  checkFunctionOption('authenticate', authenticate);
  checkFunctionOption('onError', onError);
  checkIntegerOption('maxBodyBytes', maxBodyBytes, 1);
  checkIntegerOption('maxBodyDepth', maxBodyDepth, 1);
  const operations = createOperations(store, { maxBodyBytes, maxBodyDepth });

  async function userOf(request: IncomingMessage, scope: Scope): Promise<string> {
    const caller = await authenticate(bearerToken(request));
    if (caller === null) throw new PlantStoreError('invalid_token');
    checkScope(caller, scope);
    return caller.user;
  }

  async function answer(request: IncomingMessage): Promise<Answer> {
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
      return await operations[operation.id]({ request, user, path, query, idText });
    } catch (error) {
      const refusal = errorAnswer(error, challenge(error, operation.scope));
      if (refusal.status >= 500 && !isRefusal(error)) onError(error, request);
      return refusal;
    }
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const answered = await answer(request);
      if (hasEndlessBody(request, maxBodyBytes)) response.setHeader('Connection', 'close');
      await sendAnswer(response, answered, request.method === 'HEAD');
    } catch (error) {
      // Whatever part of the answer is out, the client must not take it for the whole.
      response.destroy();
      onError(error, request);
    }
  }

  return (request, response) => void respond(request, response);
}

function createOperations(store: PlantStore, limits: BodyLimits): Record<OperationId, (call: Call) => Answer | Promise<Answer>> {
  const openApi = openApiAnswer('/');
  return {
    createPlant: async ({ request, user }) => {
      // The store checks what JSON holds; the type would be a claim.
      const newPlant = (await readJsonBody(request, limits)) as Parameters<PlantStore['createPlant']>[1];
      return { status: 200, body: plantJson(await store.createPlant(user, newPlant)) };
    },
    getPlants: ({ request, user, query, path }) =>
      plantListAnswer(store, { user, query, path: mountPath(request) + path }),
    deletePlant: async ({ user, idText }) => {
      const wasThere = await store.deletePlant(user, parseIdText(idText));
      if (!wasThere) throw new PlantStoreError('plant_not_found');
      return { status: 204 };
    },
    getOpenApi: ({ request }) => {
      const prefix = mountPath(request);
      return prefix === '' ? openApi : openApiAnswer(prefix);
    },
  };
}

function openApiAnswer(serverUrl: string): Answer {
  return { status: 200, body: JSON.stringify(openApiDocument(serverUrl)) };
}

/** Percent-encoded digits are the same id (RFC 3986 §6.2.2.2); bad escapes are none. */
function parseIdText(text: string): PlantId {
  const id = int64FromText(text.replace(/%(3\d|2d)/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))));
  if (id === undefined) throw new PlantStoreError('invalid_id');
  return id;
}

/** The prefix that an Express-style app has taken off the URL. */
function mountPath(request: IncomingMessage): string {
  return 'baseUrl' in request && typeof request.baseUrl === 'string' ? request.baseUrl : '';
}

/** Whether the store itself said no, which is nothing to look into. */
function isRefusal(error: unknown): boolean {
  return error instanceof PlantStoreError && (error.code === 'saturated' || error.code === 'closed');
}
