import { maxBodyBytes } from './bodies.ts';
import { parsePlant } from './reference-plant.ts';
import type { Operation } from './reference-store.ts';
import { parseListQuery, parsePathId } from './reference-target.ts';
import type { Request } from './requests.ts';

/** What the interface specifies for a request, apart from what is stored. */
export interface Expectation {
  /** The integer of the error that refuses the request; several if it is invalid in several ways. */
  readonly errors?: readonly number[];
  /** What the request does if it is not refused. */
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

/** Checks route, method, credentials, scope, media type, size, JSON and shape, in this order. */
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
    const id = parsePathId(route.idText);
    return id === undefined ? { errors: [40004] } : { operation: { kind: 'delete', user, id } };
  }
  if (isRead) {
    const query = parseListQuery(route.query);
    return 'errors' in query ? query : { operation: { kind: 'list', user, ...query } };
  }
  if (!isJson) return { errors: [40007] };
  // The length of a chunked body is known only after it is read.
  if (body.length > maxBodyBytes) return { errors: [40008], readsBody: isChunked };
  const plant = parsePlant(Buffer.from(body, 'latin1'));
  return {
    readsBody: true,
    ...(typeof plant === 'number' ? { errors: [plant] } : { operation: { kind: 'create', user, plant } }),
  };
}
