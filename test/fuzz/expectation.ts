import { maxInt64, minInt64 } from '../../src/core/model/int64.ts';
import type { Plant } from '../../src/index.ts';
import type { ReferenceStore } from '../../src/testing/reference-store.ts';
import { authenticateByName } from '../support/service.ts';
import { maxBodyBytes } from './requests.ts';
import type { SentRequest } from './requests.ts';

/** What must be true of a response. */
export interface Expectation {
  readonly status: number;
  /** The body, without the message of an Error. By default, the body is not compared. */
  readonly json?: unknown;
  readonly allow?: string;
  readonly link?: string;
}

/** The largest limit of a list with a Link header. */
const maxPage = 1000;

function refusal(error: number): Expectation {
  return { status: Math.floor(error / 100), json: { error } };
}

/** Returns the value of the Allow header for a path, or `undefined` if there is nothing at the path. */
function allowedAt(path: string): string | undefined {
  if (path === '/plants') return 'GET, POST, HEAD, OPTIONS';
  if (path === '/openapi.json') return 'GET, HEAD, OPTIONS';
  return /^\/plants\/[^/]+$/.test(path) ? 'DELETE, OPTIONS' : undefined;
}

/**
 * Performs a request on the reference store, after checking the route, method, credentials, scope, media type, size,
 * JSON and shape, in this order.
 */
export function perform(request: SentRequest, store: ReferenceStore): Expectation {
  const { method, target, headers } = request;
  const [path = '', query = ''] = target.split(/\?(.*)/s);
  const allow = allowedAt(path);
  if (allow === undefined) return refusal(40401);
  if (method === 'OPTIONS') return { status: 204, allow };
  if (!allow.split(', ').includes(method)) return { ...refusal(40500), allow };
  if (path === '/openapi.json') return { status: 200 };
  const { authorization = '' } = headers;
  if (!/^bearer/i.test(authorization)) return refusal(40101);
  const caller = authenticateByName(authorization.replace(/^bearer */i, ''));
  if (caller === null) return refusal(40102);
  const isWrite = method === 'POST' || method === 'DELETE';
  if (caller.scopes?.includes(isWrite ? 'plants:write' : 'plants:read') === false) return refusal(40300);
  if (method === 'DELETE') {
    const id = int64(path.slice('/plants/'.length));
    if (id === undefined) return refusal(40004);
    return store.delete(caller.user, id) ? { status: 204 } : refusal(40402);
  }
  return isWrite ? performCreate(caller.user, request, store) : performList(caller.user, query, store);
}

function performList(user: string, query: string, store: ReferenceStore): Expectation {
  const parameters = new URLSearchParams(query);
  const [limits, afters] = [parameters.getAll('limit'), parameters.getAll('after')];
  const limit = /^\d+$/.test(limits.join()) ? Number(limits.join()) : undefined;
  const after = int64(afters.join());
  if (limits.length > 0 && limit === undefined) return refusal(40005);
  if (afters.length > 0 && after === undefined) return refusal(40006);
  if (limit !== undefined && limit >= 2 ** 31) return refusal(40005);
  const all = store.list(user, { after });
  const listed = all.slice(0, limit);
  const last = listed.at(-1);
  const hasLink = limit !== undefined && limit <= maxPage && last !== undefined && listed.length < all.length;
  const link = `</plants?limit=${limit ?? ''}&after=${last?.id ?? ''}>; rel="next"`;
  return { status: 200, json: listed.map(shown), ...(hasLink && { link }) };
}

function shown({ name, tag }: Plant): object {
  return tag === undefined ? { name } : { name, tag };
}

function performCreate(user: string, request: SentRequest, store: ReferenceStore): Expectation {
  const { headers, body = '' } = request;
  const type = headers['content-type'] ?? '';
  if (!/^application\/json/i.test(type) || type.includes('utf-16')) return refusal(40007);
  if (body.length > maxBodyBytes) return refusal(40008);
  const plant = parsePlant(Buffer.from(body, 'latin1'));
  if (typeof plant === 'number') return refusal(plant);
  return store.create(user, plant) ? { status: 200, json: shown(plant) } : refusal(40003);
}

/** Parses a NewPlant. Returns the integer of the error for any other body. */
function parsePlant(bytes: Buffer): Plant | 40001 | 40002 {
  const exactId = (key: string, value: unknown, context?: { source?: string }): unknown =>
    key === 'id' && typeof value === 'number' ? int64(integerText(context?.source ?? '')) : value;
  let root: unknown;
  try {
    root = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), exactId);
  } catch {
    return 40001;
  }
  const { id, name, tag } = Object(root) as Record<string, unknown>;
  if (typeof id !== 'bigint' || !isText(name)) return 40002;
  if (tag === undefined) return { id, name };
  return isText(tag) ? { id, name, tag } : 40002;
}

/** Converts `1e3` to `1000`. The generated numbers with a fraction or an exponent are exact as doubles. */
function integerText(source: string): string {
  const number = Number(source);
  return /[.e]/i.test(source) && Number.isInteger(number) ? String(BigInt(number)) : source;
}

function int64(text: string): bigint | undefined {
  if (!/^-?\d+$/.test(text)) return undefined;
  const value = BigInt(text);
  return value >= minInt64 && value <= maxInt64 ? value : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}
