import { maxInt64, minInt64 } from '../../src/core/model/int64.ts';
import { maxBodyBytes } from './bodies.ts';
import { parsePlant } from './reference-plant.ts';
import type { Operation } from './reference-store.ts';
import type { Request } from './requests.ts';

/** The specified behavior for a request, independent of the stored plants. */
export interface Expectation {
  /** If the server must refuse the request: the integers of the possible errors. A request can have several faults. */
  readonly errors?: readonly number[];
  /** The operation that the server performs if it does not refuse the request. */
  readonly operation?: Operation;
  /** The value of the Allow header. */
  readonly allow?: string;
  /** Whether the server must read the body. */
  readonly readsBody?: boolean;
}

const allowed = {
  plants: 'GET, POST, HEAD, OPTIONS',
  plant: 'DELETE, OPTIONS',
  openapi: 'GET, HEAD, OPTIONS',
};

/** Checks the route, method, credentials, scope, media type, size, JSON and shape, in this order. */
export function expectation({ method, target, caller, isJson, isChunked, body }: Request): Expectation {
  const { route } = target;
  if (route === undefined) return { errors: [40401] };
  const allow = allowed[route.kind];
  if (method === 'OPTIONS') return { allow, operation: { kind: 'options' } };
  if (!allow.split(', ').includes(method)) return { allow, errors: [40500] };
  if (route.kind === 'openapi') return { operation: { kind: 'openapi' } };
  if (typeof caller === 'number') return { errors: [caller] };
  const { user, scopes } = caller;
  const isRead = method === 'GET' || method === 'HEAD';
  if (scopes?.includes(isRead ? 'plants:read' : 'plants:write') === false) return { errors: [40300] };
  if (route.kind === 'plant') {
    const id = int64(decoded(route.idText));
    return id === undefined ? { errors: [40004] } : { operation: { kind: 'delete', user, id } };
  }
  if (isRead) {
    const query = parseListQuery(route.query);
    return 'errors' in query ? query : { operation: { kind: 'list', user, ...query } };
  }
  if (!isJson) return { errors: [40007] };
  // The server knows the length of a chunked body only after reading the body.
  if (body.length > maxBodyBytes) return { errors: [40008], readsBody: isChunked };
  const plant = parsePlant(Buffer.from(body, 'latin1'));
  return {
    readsBody: true,
    ...(typeof plant === 'number' ? { errors: [plant] } : { operation: { kind: 'create', user, plant } }),
  };
}

/** Returns the parameters of a list request, or the integers of the errors for an invalid query. */
function parseListQuery(
  query: string,
): { limit: number | undefined; after: bigint | undefined } | { errors: readonly number[] } {
  const parameters = new URLSearchParams(query);
  const [limits, afters] = [parameters.getAll('limit'), parameters.getAll('after')];
  const limit = /^\d+$/.test(limits.join()) ? int64(limits.join()) : undefined;
  const after = int64(afters.join());
  const errors: number[] = [];
  if (limits.length > 0 && (limit === undefined || limit > 2_147_483_647n)) errors.push(40005);
  if (afters.length > 0 && after === undefined) errors.push(40006);
  return errors.length > 0 ? { errors } : { limit: limit === undefined ? undefined : Number(limit), after };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

function int64(text: string): bigint | undefined {
  if (!/^-?\d+$/.test(text)) return undefined;
  const value = BigInt(text);
  return value >= minInt64 && value <= maxInt64 ? value : undefined;
}
