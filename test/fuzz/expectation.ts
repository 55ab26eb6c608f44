import type { Scope } from '../../src/http.ts';
import type { StoredPlant } from '../../src/index.ts';
import { callers } from './callers.ts';
import { elementsOf, valuesOf } from './fields.ts';
import type { Request } from './read-requests.ts';
import { readPlant } from './reference-plant.ts';
import { readListQuery, readPathId, routeOf } from './reference-target.ts';

/** What a request asks for. */
export type Operation =
  | { readonly kind: 'create'; readonly user: string; readonly plant: StoredPlant }
  | { readonly kind: 'delete'; readonly user: string; readonly id: bigint }
  | {
      readonly kind: 'list';
      readonly user: string;
      readonly limit: number | undefined;
      readonly after: bigint | undefined;
      readonly path: string;
    }
  | { readonly kind: 'openapi' }
  | { readonly kind: 'options'; readonly allow: string };

/** How a request may be answered. */
export interface Expectation {
  /** The integers of the Errors that may refuse it, before anything else happens. */
  readonly errors: readonly number[];
  /** What it does where it is not refused; without one it has to be refused. */
  readonly operation?: Operation;
}

/** node:http takes 16 KiB of header; how exactly it counts, and what a field costs besides its text, is left to it. */
const [surelyShort, surelyLong, maxFieldCost] = [14_000, 17_000, 64];
/** A field costs nothing besides its text at the least: not the colon, the space and the line's end. */
const fieldFrame = 4;
export const maxBodyBytes = 65_536;

/** How a request may be answered, by the interface and the RFCs, apart from what is stored. */
export function expectation(request: Request): Expectation {
  const mayBe: number[] = request.doubts.length > 0 ? [40009] : [];
  const isLong =
    request.headLength + request.fields.length * maxFieldCost > surelyShort || request.doubts.includes('long trailers');
  if (isLong) mayBe.push(43100);
  if (request.headLength - request.fields.length * fieldFrame > surelyLong) return { errors: mayBe };
  if (request.faults.length > 0) return { errors: [...mayBe, 40009] };
  const byHeader = checkHeader(request);
  // Trailers are header, too.
  if (request.bodyState !== 'complete') mayBe.push(40009, 40800, 43100);
  if (byHeader.operation === undefined && !byHeader.readsBody) return { errors: [...mayBe, ...byHeader.errors] };
  mayBe.push(...byHeader.errors);
  if (request.bodyState !== 'complete') {
    if (
      byHeader.readsBody &&
      Number(valuesOf(request.fields, 'content-length')[0] ?? maxBodyBytes + 1) > maxBodyBytes
    ) {
      mayBe.push(40008);
    }
    const { operation } = byHeader;
    // What changes nothing may be answered before the body that nobody asked for is there.
    const mayServe = operation !== undefined && operation.kind !== 'delete';
    return mayServe ? { errors: mayBe, operation } : { errors: mayBe };
  }
  if (!byHeader.readsBody) return { ...byHeader, errors: mayBe };
  if (request.body.length > maxBodyBytes) return { errors: [...mayBe, 40008] };
  const plant = readPlant(Buffer.from(request.body, 'latin1'));
  if (typeof plant === 'number') return { errors: [...mayBe, plant] };
  return { errors: mayBe, operation: { kind: 'create', user: byHeader.user, plant } };
}

type ByHeader =
  | (Expectation & { readonly readsBody?: false })
  | {
      readonly readsBody: true;
      readonly user: string;
      readonly errors: readonly number[];
      readonly operation?: undefined;
    };

/** What can be told before the body: route, method, credentials, scope, media type, in this order. */
function checkHeader({ method, target, fields }: Request): ByHeader {
  const route = routeOf(target);
  // node:http refuses methods that it does not know, and closes the connection behind a CONNECT.
  const isKnown = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].includes(method);
  const ifUnknown = isKnown ? [] : [40009];
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
    const id = readPathId(route.idText);
    return id === undefined ? { errors: [40004] } : { errors: [], operation: { kind: 'delete', user: caller, id } };
  }
  if (wanted === 'POST') {
    const media = checkMedia(valuesOf(fields, 'content-type'), elementsOf(fields, 'content-encoding'));
    if (media === 'wrong') return { errors: [40007, 40009] };
    return { readsBody: true, user: caller, errors: media === 'doubtful' ? [40007] : [] };
  }
  const query = readListQuery(route.query);
  if ('errors' in query) return query;
  return { errors: [], operation: { kind: 'list', user: caller, ...query, path: route.path } };
}

/** The user, or the integers that refuse the credentials. */
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
