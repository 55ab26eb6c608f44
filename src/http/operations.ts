import { PlantStoreError } from '../model/errors.ts';
import { int64FromText } from '../model/int64.ts';
import { plantJson } from '../model/plant.ts';
import type { PlantId } from '../model/plant.ts';
import { plantPageJson } from '../store/plant-store.ts';
import type { PlantStore } from '../store/plant-store.ts';
import type { JsonPage } from '../storage/storage-adapter.ts';
import type { Answer } from './answer.ts';
import { JsonBodyReader } from './body.ts';
import { describeCors } from './cors.ts';
import { HttpError } from './http-error.ts';
import { InFlight } from './in-flight.ts';
import { LongLists } from './long-lists.ts';
import { openApiDocument } from './openapi.ts';
import { parseListQuery, plantListAnswer } from './plant-list.ts';
import type { OperationId } from './routes.ts';
import type { ServiceRequest } from './service-request.ts';
import type { UnsentBytes } from './unsent-bytes.ts';

/** The arguments of an operation. */
interface Call {
  readonly request: ServiceRequest;
  readonly user: string;
  readonly path: string;
  readonly query: string;
  readonly idText: string;
}

/** The service options that the operations use. */
export interface OperationLimits {
  /** The maximum size of a request body in bytes. */
  readonly maxBodyBytes: number;
  /** The maximum number of requests that the store processes at the same time. */
  readonly maxInFlight: number;
  /** The prefix of every path in a response. */
  readonly basePath: string;
  /** Whether responses have CORS headers. If so, the OpenAPI document describes them. */
  readonly hasCors: boolean;
}

/** The functions that implement the operations. Each function is called after the caller has been authorized. */
export type Operations = Readonly<Record<OperationId, (call: Call) => Answer | Promise<Answer>>>;

export function createOperations(store: PlantStore, limits: OperationLimits, unsent: UnsentBytes): Operations {
  const { basePath, hasCors } = limits;
  const openApi = openApiAnswer(basePath, hasCors);
  const longLists = new LongLists(store);
  const bodies = new JsonBodyReader(limits.maxBodyBytes);
  const inFlight = new InFlight(limits.maxInFlight);

  /**
   * Counts a request as in progress. Must be called after the whole request has arrived. Throws an error if the client
   * can no longer receive a response, or if too many requests are in progress.
   */
  function begin({ isOpen }: ServiceRequest, user: string): void {
    if (!isOpen) throw new HttpError('malformed_request');
    inFlight.begin(user);
  }

  return {
    createPlant: async ({ request, user }) => {
      // This cast is safe, because the store validates the parsed JSON.
      const newPlant = (await bodies.read(request, user)) as Parameters<PlantStore['createPlant']>[1];
      begin(request, user);
      try {
        return { status: 200, body: plantJson(await store.createPlant(user, newPlant)), user };
      } finally {
        inFlight.end(user);
      }
    },
    getPlants: async ({ request, user, query, path }) => {
      const range = parseListQuery(query);
      if (unsent.isFull(user)) throw new PlantStoreError('saturated');
      begin(request, user);
      let first: JsonPage;
      try {
        first = await plantPageJson(store, user, range);
      } finally {
        inFlight.end(user);
      }
      return plantListAnswer(store, longLists, first, {
        ...range,
        user,
        path: basePath + request.mountPath + path,
        isHead: request.method === 'HEAD',
        isClientGone: () => request.isClientGone(),
      });
    },
    deletePlant: async ({ request, user, idText }) => {
      const id = parseIdText(idText);
      await request.discardBody(limits.maxBodyBytes);
      begin(request, user);
      try {
        if (await store.deletePlant(user, id)) return { status: 204 };
      } finally {
        inFlight.end(user);
      }
      throw new HttpError('plant_not_found');
    },
    getOpenApi: ({ request }) => {
      const mounted = request.mountPath;
      return mounted === '' ? openApi : openApiAnswer(basePath + mounted, hasCors);
    },
  };
}

function openApiAnswer(prefix: string, hasCors: boolean): Answer {
  const document = openApiDocument(prefix === '' ? '/' : prefix);
  return { status: 200, body: JSON.stringify(hasCors ? describeCors(document) : document) };
}

/**
 * Parses the id in a path. The digits and the minus sign may be percent-encoded (RFC 3986 §6.2.2.2). An id that
 * contains any other percent sign is invalid.
 */
function parseIdText(text: string): PlantId {
  const id = int64FromText(text.replace(/%(3\d|2d)/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))));
  if (id === undefined) throw new PlantStoreError('invalid_id');
  return id;
}
