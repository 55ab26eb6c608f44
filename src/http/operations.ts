import { PlantStoreError } from '../core/model/errors.ts';
import { int64FromText } from '../core/model/int64.ts';
import { parseNewPlant, plantJson } from '../core/model/plant.ts';
import type { PlantId } from '../core/model/plant.ts';
import type { PlantStore } from '../core/plant-store.ts';
import type { Answer } from './answer.ts';
import { readJsonBody } from './body.ts';
import { HttpError } from './http-error.ts';
import { listAnswer, parseListQuery } from './list.ts';
import { openApiDocument } from './openapi.ts';
import type { OperationId } from './routes.ts';
import type { ServiceRequest } from './service-request.ts';

interface OperationInput {
  readonly request: ServiceRequest;
  readonly user: string;
  readonly path: string;
  readonly query: string;
  readonly idText: string;
}

/** The functions that implement the operations. Each function is called after the caller has been authorized. */
type Operations = Readonly<Record<OperationId, (input: OperationInput) => Answer | Promise<Answer>>>;

export function createOperations(
  store: PlantStore,
  { maxBodyBytes, basePath }: { readonly maxBodyBytes: number; readonly basePath: string },
): Operations {
  const openApi = openApiAnswer(basePath);
  return {
    createPlant: async ({ request, user }) => {
      const newPlant = parseNewPlant(await readJsonBody(request, maxBodyBytes));
      return { status: 200, body: plantJson(await store.createPlant(user, newPlant)) };
    },
    getPlants: ({ request, user, query, path }) =>
      listAnswer(store, { ...parseListQuery(query), request, user, path: basePath + request.mountPath + path }),
    deletePlant: async ({ user, idText }) => {
      if (await store.deletePlant(user, parseIdText(idText))) return { status: 204 };
      throw new HttpError('plant_not_found');
    },
    getOpenApi: ({ request }) => {
      const mounted = request.mountPath;
      return mounted === '' ? openApi : openApiAnswer(basePath + mounted);
    },
  };
}

function openApiAnswer(prefix: string): Answer {
  return { status: 200, body: JSON.stringify(openApiDocument(prefix === '' ? '/' : prefix)) };
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
