import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { createOpenApiDocument } from '../../src/http.ts';
import { resolveTarget } from '../../src/http/routes.ts';

interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface Described {
  $ref?: string;
  headers?: Record<string, { $ref?: string; required?: boolean; schema?: object }>;
  content?: Record<string, { schema: object }>;
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Described> }>>;
  components: { responses: Record<string, Described>; headers: Record<string, { required: boolean; schema: object }> };
}

const document = createOpenApiDocument() as unknown as Document;
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema({ $id: 'openapi', ...document });

/** HTTP headers that OpenAPI documents do not describe. */
const transportHeaders = ['content-type', 'content-length', 'date', 'connection', 'keep-alive', 'transfer-encoding'];

/** Asserts that the OpenAPI document describes the status, every header and the body of a response. */
export function assertDescribed(method: string, target: string, received: Received): void {
  const described = describedResponse(method, target, received.status);
  const what = `${method} ${target} → ${received.status}`;
  assert.ok(described, `${what} is not in the OpenAPI document`);
  assertHeaders(what, described, received.headers);

  const schema = described.content?.['application/json']?.schema;
  if (schema === undefined || method === 'HEAD' || method === 'OPTIONS') {
    assert.equal(received.text, '', `${what} has a body that is not described`);
    if (method !== 'HEAD') assert.equal(received.headers.get('content-type'), null, what);
    return;
  }
  assert.equal(received.headers.get('content-type'), 'application/json', what);
  assertValid(what, schema, JSON.parse(received.text));
}

function describedResponse(method: string, target: string, status: number): Described | undefined {
  const { route } = resolveTarget(method, target, '');
  if (route === undefined) return status === 404 ? document.components.responses['RouteNotFound'] : undefined;
  if (method === 'OPTIONS') return document.components.responses['MethodNotAllowed'];
  // HEAD has the headers of GET.
  const operation = document.paths[route.path]?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
  if (operation === undefined) return status === 405 ? document.components.responses['MethodNotAllowed'] : undefined;
  const response = operation.responses[String(status)];
  return document.components.responses[response?.$ref?.split('/').at(-1) ?? ''] ?? response;
}

function assertHeaders(what: string, { headers = {} }: Described, received: Headers): void {
  const known = new Set(transportHeaders);
  for (const [name, headerOrRef] of Object.entries(headers)) {
    known.add(name.toLowerCase());
    const reference = headerOrRef.$ref?.split('/').at(-1);
    const header = reference === undefined ? headerOrRef : document.components.headers[reference];
    const value = received.get(name);
    assert.ok(value !== null || header?.required !== true, `${what} lacks ${name}`);
    if (value !== null && header?.schema) {
      assertValid(`${what}: ${name}`, header.schema, /^\d+$/.test(value) ? Number(value) : value);
    }
  }
  for (const name of received.keys()) assert.ok(known.has(name), `${what} has ${name}, which is not described`);
}

const validators = new Map<object, ValidateFunction>();

function assertValid(what: string, schema: object, value: unknown): void {
  let validate = validators.get(schema);
  if (validate === undefined) {
    validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')) as object);
    validators.set(schema, validate);
  }
  assert.ok(validate(value), `${what}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`);
}
