import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { createOpenApiDocument } from '../../src/http.ts';
import { resolveTarget } from '../../src/http/routes.ts';

interface Described {
  readonly headers?: Record<string, object>;
  readonly content?: Record<string, { schema: object }>;
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, object> }>>;
  components: { responses: Record<string, Described> };
}

// Each reference names the document, because Ajv also receives schemas alone.
const document = JSON.parse(JSON.stringify(createOpenApiDocument()).replaceAll('"#/', '"openapi#/')) as Document;
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema({ $id: 'openapi', ...document });

/** HTTP headers that OpenAPI documents do not describe. */
const transportHeaders = ['content-type', 'content-length', 'date', 'connection', 'keep-alive', 'transfer-encoding'];

/** Returns what an object refers to, or the object itself if it is not a reference. */
function resolve(object: { readonly $ref?: string } | undefined): object | undefined {
  const path = object?.$ref?.split('/').slice(1);
  return path?.reduce<object>((at, key) => (at as Record<string, object>)[key] ?? {}, document) ?? object;
}

/** Asserts that the OpenAPI document describes the status, every header and the body of a response. */
export function assertDescribed(
  method: string,
  target: string,
  received: Pick<Response, 'status' | 'headers'> & { text: string },
): void {
  const what = `${method} ${target} → ${received.status}`;
  const described = describedResponse(method, target, received.status);
  assert.ok(described, `${what} is not in the OpenAPI document`);

  const headers = new Map(Object.entries(described.headers ?? {}).map(([name, each]) => [name.toLowerCase(), each]));
  for (const [name, each] of headers) {
    const header = resolve(each) as { required?: boolean; schema: object } | undefined;
    const value = received.headers.get(name);
    assert.ok(value !== null || header?.required !== true, `${what} lacks ${name}`);
    if (value !== null && header) {
      assertValid(`${what}: ${name}`, header.schema, /^\d+$/.test(value) ? Number(value) : value);
    }
  }
  const unknown = [...received.headers.keys()].filter((name) => !headers.has(name) && !transportHeaders.includes(name));
  assert.deepEqual(unknown, [], `${what} has headers that are not described`);

  const schema = described.content?.['application/json']?.schema;
  const hasBody = schema !== undefined && method !== 'HEAD' && method !== 'OPTIONS';
  if (method !== 'HEAD') assert.equal(received.headers.get('content-type'), hasBody ? 'application/json' : null, what);
  if (hasBody) assertValid(what, schema, JSON.parse(received.text));
  else assert.equal(received.text, '', `${what} has a body that is not described`);
}

function describedResponse(method: string, target: string, status: number): Described | undefined {
  const { RouteNotFound, MethodNotAllowed } = document.components.responses;
  const { route } = resolveTarget(method, target, '');
  if (route === undefined) return status === 404 ? RouteNotFound : undefined;
  if (method === 'OPTIONS') return MethodNotAllowed;
  // The document does not contain HEAD, whose responses have the headers of GET.
  const operation = document.paths[route.path]?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
  if (operation === undefined) return status === 405 ? MethodNotAllowed : undefined;
  return resolve(operation.responses[String(status)]);
}

function assertValid(what: string, schema: object, value: unknown): void {
  assert.ok(ajv.validate(schema, value), `${what}: ${ajv.errorsText()} in ${JSON.stringify(value)}`);
}
