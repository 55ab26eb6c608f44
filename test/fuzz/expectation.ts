import type { Scope } from '../../src/http.ts';
import { callers } from './callers.ts';
import { elementsOf, valuesOf } from './fields.ts';
import type { Request } from './parse-requests.ts';
import { parsePlant } from './reference-plant.ts';
import type { Operation } from './reference-store.ts';
import { parseListQuery, parsePathId, routeOf } from './reference-target.ts';

/** The responses that a request may get. */
export interface Expectation {
  /** The integers of the errors that may refuse it, apart from those that depend on what is stored. */
  readonly errors: readonly number[];
  /** What it does if it is not refused. If there is none, it must be refused. */
  readonly operation?: Operation;
}

/**
 * node:http accepts 16 KiB of header, and the service 128 fields. A header near or over these limits may be refused,
 * because how node:http counts the bytes of a field is not specified. Tests of the service cover the limits.
 */
const [maxHeaderBytes, maxFieldOverhead, maxFields] = [14_000, 64, 128];
export const maxBodyBytes = 65_536;
const knownMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Returns what the interface and the RFCs allow as the response to a request, apart from what is stored. */
export function expectation(request: Request): Expectation {
  const mayBe: number[] = request.doubts.length > 0 ? [40009] : [];
  const headerBytes = request.headLength + request.fields.length * maxFieldOverhead;
  const isLong = headerBytes > maxHeaderBytes || request.fields.length > maxFields;
  // The parser of node:http may refuse another part of a long header first.
  if (isLong || request.doubts.includes('long trailers')) mayBe.push(43100, 40009);
  if (request.faults.length > 0) return { errors: [...mayBe, 40009] };
  const verdict = checkHeader(request);
  // Trailers count as header.
  if (request.bodyState !== 'complete') mayBe.push(40009, 40800, 43100);
  if (verdict.operation === undefined && !verdict.readsBody) return { errors: [...mayBe, ...verdict.errors] };
  mayBe.push(...verdict.errors);
  const isComplete = request.bodyState === 'complete';
  const length = isComplete ? request.body.length : Number(valuesOf(request.fields, 'content-length')[0] ?? Infinity);
  if (length > maxBodyBytes && verdict.readsBody === true) mayBe.push(40008);
  if (!isComplete) {
    const { operation } = verdict;
    // A request may get its response before a body that it does not need.
    return operation === undefined ? { errors: mayBe } : { errors: mayBe, operation };
  }
  if (!verdict.readsBody) return { ...verdict, errors: mayBe };
  if (length > maxBodyBytes) return { errors: mayBe };
  const plant = parsePlant(Buffer.from(request.body, 'latin1'));
  if (typeof plant === 'number') return { errors: [...mayBe, plant] };
  return { errors: mayBe, operation: { kind: 'create', user: verdict.user, plant } };
}

type HeaderVerdict =
  | (Expectation & { readonly readsBody?: false })
  | {
      readonly readsBody: true;
      readonly user: string;
      readonly errors: readonly number[];
      readonly operation?: undefined;
    };

/** Checks what does not depend on the body: route, method, credentials, scope and media type, in this order. */
function checkHeader({ method, target, fields }: Request): HeaderVerdict {
  const route = routeOf(target);
  // node:http refuses unknown methods, and closes the connection after a CONNECT.
  const ifUnknown = knownMethods.has(method) ? [] : [40009];
  if (method === 'CONNECT') return { errors: [40401, 40009, 40500] };
  if (route === undefined) return { errors: [40401, ...ifUnknown] };
  if (method === 'OPTIONS') return { errors: [], operation: { kind: 'options', allow: route.allow } };
  const wanted = method === 'HEAD' ? 'GET' : method;
  if (!route.methods.includes(wanted)) return { errors: [40500, ...ifUnknown] };
  if (route.kind === 'openapi') return { errors: [], operation: { kind: 'openapi' } };
  const scope = wanted === 'GET' ? 'plants:read' : 'plants:write';
  const caller = callerOf(valuesOf(fields, 'authorization'), scope);
  if (typeof caller !== 'string') return { errors: caller };
  if (route.kind === 'plant') {
    const id = parsePathId(route.idText);
    return id === undefined ? { errors: [40004] } : { errors: [], operation: { kind: 'delete', user: caller, id } };
  }
  if (wanted === 'POST') {
    const media = checkMedia(valuesOf(fields, 'content-type'), elementsOf(fields, 'content-encoding'));
    if (media === 'wrong') return { errors: [40007, 40009] };
    return { readsBody: true, user: caller, errors: media === 'doubtful' ? [40007] : [] };
  }
  const query = parseListQuery(route.query);
  if ('errors' in query) return query;
  return { errors: [], operation: { kind: 'list', user: caller, ...query, path: route.path } };
}

/** Returns the user, or the integers of the errors for invalid credentials. */
function callerOf(values: readonly string[], scope: Scope): string | number[] {
  const [value] = values;
  if (value === undefined) return [40101];
  if (values.length > 1) return [40101, 40102, 40009];
  const token = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(value)?.[1];
  if (token === undefined) return [40101, 40102];
  const caller = callers.get(token);
  if (caller === undefined) return [40102];
  return caller.scopes === undefined || caller.scopes.includes(scope) ? caller.user : [40300];
}

function checkMedia(types: readonly string[], codings: readonly string[]): 'right' | 'wrong' | 'doubtful' {
  const [type = ''] = types;
  if (types.length > 1) return 'wrong';
  if (codings.some((coding) => coding !== 'identity' && coding !== '')) return 'wrong';
  const [essence = '', ...parameters] = type.split(';').map((part) => part.trim().toLowerCase());
  if (essence !== 'application/json') return 'wrong';
  const isPlain =
    parameters.length === 0 || (parameters.length === 1 && /^charset=(?:utf-8|"utf-8")$/.test(parameters[0] ?? ''));
  if (isPlain) return types.length > 1 || codings.length > 0 ? 'doubtful' : 'right';
  return parameters.length === 1 &&
    /^charset=[a-z\d-]+$/.test(parameters[0] ?? '') &&
    parameters[0]?.includes('utf') !== true
    ? 'wrong'
    : 'doubtful';
}
