import { maxInt64, minInt64 } from '../../src/core/model/int64.ts';
import type { Plant } from '../../src/index.ts';
import { maxBodyBytes } from './bodies.ts';
import type { Request } from './requests.ts';

/** The operation that a request performs. */
export type Operation =
  | { readonly kind: 'create'; readonly user: string; readonly plant: Plant }
  | { readonly kind: 'delete'; readonly user: string; readonly id: bigint }
  | { readonly kind: 'list'; readonly user: string; readonly limit?: number; readonly after?: bigint }
  | { readonly kind: 'openapi' | 'options' };

/** The specified behavior for a request, independent of the stored plants. */
export interface Expectation {
  /** If the server must refuse the request: the integers of the possible errors. A request can have several faults. */
  readonly errors?: readonly number[];
  /** The operation that the server performs if it does not refuse the request. */
  readonly operation?: Operation;
  /** The value of the Allow header. */
  readonly allow?: string;
}

const allowed = {
  plants: 'GET, POST, HEAD, OPTIONS',
  plant: 'DELETE, OPTIONS',
  openapi: 'GET, HEAD, OPTIONS',
};

/** Checks the route, method, credentials, scope, media type, size, JSON and shape, in this order. */
export function expectation({ method, route, caller, isJson, body }: Request): Expectation {
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
  if (isRead) return expectList(user, route.query);
  if (!isJson) return { errors: [40007] };
  if (body.length > maxBodyBytes) return { errors: [40008] };
  const plant = parsePlant(Buffer.from(body, 'latin1'));
  return typeof plant === 'number' ? { errors: [plant] } : { operation: { kind: 'create', user, plant } };
}

function expectList(user: string, query: string): Expectation {
  const parameters = new URLSearchParams(query);
  const [limits, afters] = [parameters.getAll('limit'), parameters.getAll('after')];
  const limit = /^\d+$/.test(limits.join()) ? int64(limits.join()) : undefined;
  const after = int64(afters.join());
  const errors: number[] = [];
  if (limits.length > 0 && (limit === undefined || limit > 2_147_483_647n)) errors.push(40005);
  if (afters.length > 0 && after === undefined) errors.push(40006);
  if (errors.length > 0) return { errors };
  const range = { ...(limit !== undefined && { limit: Number(limit) }), ...(after !== undefined && { after }) };
  return { operation: { kind: 'list', user, ...range } };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

function int64(text: string): bigint | undefined {
  return /^-?\d+$/.test(text) ? inRange(BigInt(text)) : undefined;
}

function inRange(value: bigint): bigint | undefined {
  return value >= minInt64 && value <= maxInt64 ? value : undefined;
}

/**
 * Parses a NewPlant in a slow but simple way. Uses JSON.parse with access to the source text of each number. Returns
 * the error's integer for an invalid body.
 */
function parsePlant(bytes: Uint8Array): Plant | 40001 | 40002 {
  const ids = new Map<unknown, string>();
  const reviver = function (this: unknown, key: string, value: unknown, context?: { source?: string }): unknown {
    if (key === 'id' && typeof value === 'number') ids.set(this, context?.source ?? '');
    return value;
  };
  let root: unknown;
  try {
    root = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), reviver);
  } catch {
    return 40001;
  }
  if (typeof root !== 'object' || root === null || Array.isArray(root)) return 40002;
  const { name, tag } = root as Record<string, unknown>;
  const idSource = ids.get(root);
  const id = idSource === undefined ? undefined : int64OfSource(idSource);
  if (id === undefined || !isText(name)) return 40002;
  if (tag === undefined) return { id, name };
  return isText(tag) ? { id, name, tag } : 40002;
}

/** Computes the int64 value of a JSON number exactly. Returns `undefined` if the number is not an int64. */
function int64OfSource(source: string): bigint | undefined {
  const [mantissa = '', exponentText = '0'] = source.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = BigInt(whole.replace('-', '') + fraction);
  const exponent = BigInt(exponentText) - BigInt(fraction.length);
  if (digits === 0n) return 0n;
  if (exponent > 40n || exponent < -BigInt(mantissa.length)) return undefined;
  const scale = 10n ** (exponent < 0n ? -exponent : exponent);
  if (exponent < 0n && digits % scale !== 0n) return undefined;
  const size = exponent < 0n ? digits / scale : digits * scale;
  return inRange(source.startsWith('-') ? -size : size);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}
