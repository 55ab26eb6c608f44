import type { Scope } from '../boundary/caller.ts';

export type OperationId = 'createPlant' | 'getPlants' | 'deletePlant' | 'getOpenApi';

export interface Operation {
  readonly id: OperationId;
  /** The scope that the caller's token must have; `undefined` if no token is required. */
  readonly scope: Scope | undefined;
}

export interface Route {
  /** The path in OpenAPI notation; `{id}` represents one path segment. */
  readonly path: string;
  /** The operations by their method. A path that supports GET also supports HEAD. */
  readonly operations: ReadonlyMap<string, Operation>;
  /** The methods that the path supports, as the value of the `Allow` header (RFC 9110 §10.2.1). */
  readonly allow: string;
  readonly pattern: RegExp;
}

/** The route table, from which the OpenAPI document is generated. */
export const routes: readonly Route[] = [
  createRoute('/plants', [
    ['GET', { id: 'getPlants', scope: 'plants:read' }],
    ['POST', { id: 'createPlant', scope: 'plants:write' }],
  ]),
  createRoute('/plants/{id}', [['DELETE', { id: 'deletePlant', scope: 'plants:write' }]]),
  createRoute('/openapi.json', [['GET', { id: 'getOpenApi', scope: undefined }]]),
];

function createRoute(path: string, operations: readonly (readonly [method: string, Operation])[]): Route {
  const methods = operations.map(([method]) => method);
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  const pattern = new RegExp(`^${path.replace('.', '\\.').replace('{id}', '([^/]+)')}$`);
  return { path, operations: new Map(operations), allow, pattern };
}

export interface ResolvedTarget {
  readonly path: string;
  readonly query: string;
  readonly route: Route | undefined;
  /** The operation; `undefined` for OPTIONS or if no operation matches. */
  readonly operation: Operation | undefined;
  /** The path segment that matches `{id}`; empty if the route does not contain `{id}`. */
  readonly idText: string;
}

/**
 * Finds the route for a request target. Paths are compared exactly: letter case and trailing slashes matter. Some
 * proxies and frameworks remove the prefix `basePath`, others do not.
 */
export function resolveTarget(method: string, target: string, basePath: string): ResolvedTarget {
  const { path: whole, query } = splitTarget(target);
  const inner = whole.startsWith(basePath) ? whole.slice(basePath.length) : whole;
  for (const path of [inner, whole]) {
    for (const route of routes) {
      const match = route.pattern.exec(path);
      if (match === null) continue;
      const operation = route.operations.get(method === 'HEAD' ? 'GET' : method);
      return { path, query, route, operation, idText: match[1] ?? '' };
    }
  }
  return { path: whole, query, route: undefined, operation: undefined, idText: '' };
}

/**
 * Splits a request target into path and query, and removes the scheme and authority of an absolute form (RFC 9112
 * §3.2.2). `new URL(target, base)` would interpret the `evil` in `//evil/plants` as a host.
 */
export function splitTarget(target: string): { path: string; query: string } {
  const origin = target.startsWith('/') ? 0 : (/^https?:\/\/[^/?]*/i.exec(target)?.[0].length ?? 0);
  const queryAt = target.indexOf('?', origin);
  const path = target.slice(origin, queryAt === -1 ? undefined : queryAt);
  return { path: path === '' ? '/' : path, query: queryAt === -1 ? '' : target.slice(queryAt + 1) };
}

/** Express sets `originalUrl` and `baseUrl`; connect, middie and h3 set only `originalUrl`. */
export function mountPathOf(message: object, target: string): string {
  const { originalUrl, baseUrl } = message as { originalUrl?: unknown; baseUrl?: unknown };
  if (typeof originalUrl === 'string') {
    const original = splitTarget(originalUrl).path;
    const { path } = splitTarget(target);
    if (original.endsWith(path)) return original.slice(0, -path.length);
  }
  return typeof baseUrl === 'string' ? baseUrl : '';
}

/** Matches one or more path segments (RFC 3986 §3.3), each preceded by a slash. */
const pathPattern = /^(?:\/(?:[\w\-.~!$&'()*+,;=:@]|%[\da-f]{2})+)+$/i;

export function isBasePath(path: string): boolean {
  return path === '' || pathPattern.test(path);
}

/** @throws {TypeError} if `path` is neither empty nor a path such as `/garden`; the message names the option. */
export function checkBasePath(path: unknown): void {
  if (typeof path === 'string' && isBasePath(path)) return;
  throw new TypeError('basePath must be a path that begins with a slash and does not end with one, such as /garden');
}
