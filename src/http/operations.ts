import type { IncomingMessage, ServerResponse } from 'node:http';
import { PlantStoreError } from '../model/errors.ts';
import { int64FromText } from '../model/int64.ts';
import { plantJson } from '../model/plant.ts';
import type { PlantId } from '../model/plant.ts';
import type { PlantStore } from '../store/plant-store.ts';
import type { JsonPage } from '../storage/storage-adapter.ts';
import type { Answer } from './answer.ts';
import { isClientGone } from './node/client-gone.ts';
import { isOpen } from './node/in-order.ts';
import { InFlight } from './in-flight.ts';
import { LongLists } from './long-lists.ts';
import { openApiDocument } from './openapi.ts';
import { parseListQuery, plantListAnswer } from './plant-list.ts';
import { discardBody, readJsonBody } from './node/request-body.ts';
import type { BodyLimits } from './node/request-body.ts';
import type { OperationId } from './routes.ts';
import type { UnsentBytes } from './node/unsent-bytes.ts';

/** What an operation works on. */
interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly user: string;
  readonly path: string;
  readonly query: string;
  readonly idText: string;
}

/** The bounds of what operations take on. */
export interface OperationLimits extends BodyLimits {
  /** How many calls the store may be working on at once. */
  readonly maxInFlight: number;
  /** How many ids long lists may hold. */
  readonly maxHeldIds: number;
}

/** What each operation does for a caller who may do it. */
export type Operations = Readonly<Record<OperationId, (call: Call) => Answer | Promise<Answer>>>;

/** `basePath` begins every path that the answers name. */
export function createOperations(
  store: PlantStore,
  limits: OperationLimits,
  unsent: UnsentBytes,
  basePath: string,
): Operations {
  const openApi = openApiAnswer(basePath);
  const longLists = new LongLists(store, limits.maxHeldIds);
  const inFlight = new InFlight(limits.maxInFlight);

  /** A request takes effect when all of it has arrived and its client can be answered. */
  function begin({ socket }: IncomingMessage, user: string): void {
    if (!isOpen(socket)) throw new PlantStoreError('malformed_request');
    inFlight.begin(user);
  }

  return {
    createPlant: async ({ request, user }) => {
      // The store checks what JSON holds; the type would be a claim.
      const newPlant = (await readJsonBody(request, limits)) as Parameters<PlantStore['createPlant']>[1];
      begin(request, user);
      try {
        return { status: 200, body: plantJson(await store.createPlant(user, newPlant)), user };
      } finally {
        inFlight.end(user);
      }
    },
    getPlants: async ({ request, response, user, query, path }) => {
      const range = parseListQuery(query);
      if (unsent.isFull(user)) throw new PlantStoreError('saturated');
      begin(request, user);
      let first: JsonPage;
      try {
        first = await store.plantPageJson(user, range);
      } finally {
        inFlight.end(user);
      }
      return plantListAnswer(store, longLists, first, {
        ...range,
        user,
        path: basePath + mountPath(request) + path,
        isHead: request.method === 'HEAD',
        isClientGone: () => isClientGone(request, response),
      });
    },
    deletePlant: async ({ request, user, idText }) => {
      const id = parseIdText(idText);
      await discardBody(request, limits);
      begin(request, user);
      try {
        if (await store.deletePlant(user, id)) return { status: 204 };
      } finally {
        inFlight.end(user);
      }
      throw new PlantStoreError('plant_not_found');
    },
    getOpenApi: ({ request }) => {
      const mounted = mountPath(request);
      return mounted === '' ? openApi : openApiAnswer(basePath + mounted);
    },
  };
}

function openApiAnswer(prefix: string): Answer {
  return { status: 200, body: JSON.stringify(openApiDocument(prefix === '' ? '/' : prefix)) };
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
