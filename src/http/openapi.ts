import { errorTable } from '../core/model/errors.ts';
import type { ErrorCode } from '../core/model/errors.ts';
import { maxLimit } from '../core/model/plant.ts';
import { routes } from './routes.ts';
import type { Operation, OperationId } from './routes.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const json = (schema: JsonObject): JsonObject => ({ 'application/json': { schema } });
const schemaRef = (schema: keyof typeof schemas): JsonObject => ({ $ref: `#/components/schemas/${schema}` });
const header = (description: string, schema: JsonObject): JsonObject => ({ description, required: true, schema });

/** The schema of a name or tag. The service also rejects unpaired surrogates, although the pattern matches them. */
const string = { type: 'string', pattern: '^[^\\u0000]*$' };
const id = {
  type: 'integer',
  format: 'int64',
  description:
    'Identification number of the plant. The client chooses it and must store it, because no response body contains ' +
    'it. To send ids over 2^53 exactly, use a 64-bit integer type.',
};
const name = { ...string, description: 'The name of the plant' };
const tag = { ...string, description: 'Tag that specifies the type of the plant' };

const schemas = {
  Plant: {
    type: 'object',
    required: ['name'],
    properties: { name, tag },
    examples: [{ name: 'Fern', tag: 'indoor' }],
  },
  NewPlant: {
    type: 'object',
    description: 'A Plant with one more field, the id. Unknown fields are ignored.',
    required: ['id', 'name'],
    properties: { id, name, tag },
    examples: [{ id: 7, name: 'Fern', tag: 'indoor' }],
  },
  Error: {
    type: 'object',
    required: ['error', 'message'],
    properties: {
      error: {
        type: 'integer',
        format: 'int32',
        description: 'Identifies the kind of error. The value is HTTP status × 100 + n and never changes.',
      },
      message: { type: 'string' },
    },
  },
};

const headers = {
  'Cache-Control': header('Plants are private and must not be cached.', { const: 'no-store' }),
  'X-Request-Id': {
    description:
      'Identifies the request in the log of the server. The value is the id that the client sent in this header, if ' +
      'it matches the pattern; otherwise, it is a new unique id. The header is absent if the server could not parse ' +
      'the request, if its header was too large, or if it took too long to arrive.',
    schema: { type: 'string', pattern: '^[!#-[\\]-~]{1,128}$' },
  },
  'X-Content-Type-Options': header('Clients must not interpret the body as another type.', { const: 'nosniff' }),
  'WWW-Authenticate': {
    description:
      'The challenge that RFC 6750 §3 defines. Every 401 response has one, and every 403 response but 40301.',
    schema: { type: 'string', pattern: '^Bearer realm=' },
  },
  'Retry-After': header('The number of seconds to wait before a retry.', { type: 'integer', minimum: 0 }),
  Allow: header('The methods that this path supports.', { type: 'string' }),
};

type HeaderName = keyof typeof headers;

/** The names and the additional headers of the error responses that operations share, keyed by status. */
const sharedResponses: Readonly<Record<number, readonly [name: string, ...headers: HeaderName[]]>> = {
  401: ['Unauthorized', 'WWW-Authenticate'],
  403: ['Forbidden', 'WWW-Authenticate'],
  405: ['MethodNotAllowed', 'Allow'],
  408: ['RequestTimeout'],
  431: ['HeaderTooLarge'],
  500: ['InternalError'],
  503: ['Unavailable', 'Retry-After'],
};

const limitDescription =
  'The maximum number of plants to return. Default: all plants. If the limit is at most 1000, a response may contain ' +
  'fewer plants if names or tags are very long; Link tells whether more plants follow. May be given only once.';

const limit = { type: 'integer', format: 'int32', minimum: 0, maximum: maxLimit };

const afterDescription = 'Returns only plants with a greater id. Take the value from Link. May be given only once.';

const link = {
  description: 'The link to the next page (RFC 8288, rel="next"), if the limit is at most 1000 and more plants follow.',
  schema: { type: 'string' },
};

/**
 * The parts of each operation's description that cannot be generated from the `routes` table. Every operation also
 * reports `malformed_request`.
 */
const details: Record<OperationId, JsonObject & { responses: JsonObject; errors: readonly ErrorCode[] }> = {
  getPlants: {
    summary: 'Returns the caller’s plants in ascending order of id.',
    parameters: [
      { name: 'limit', in: 'query', description: limitDescription, schema: limit },
      { name: 'after', in: 'query', description: afterDescription, schema: { type: 'integer', format: 'int64' } },
    ],
    errors: ['invalid_limit', 'invalid_after'],
    responses: { 200: success('The plants.', { type: 'array', items: schemaRef('Plant') }, { Link: link }) },
  },
  createPlant: {
    summary: 'Creates a plant for the caller, unless the caller already has a plant with this id.',
    requestBody: {
      required: true,
      description: 'JSON in UTF-8 without a content coding; at most 65536 bytes by default.',
      content: json(schemaRef('NewPlant')),
    },
    errors: ['invalid_media_type', 'body_too_large', 'invalid_json', 'invalid_plant', 'id_taken'],
    responses: { 200: success('The plant was created.', schemaRef('Plant')) },
  },
  deletePlant: {
    summary: 'Deletes one of the caller’s plants.',
    parameters: [{ name: 'id', in: 'path', required: true, description: 'The id of the plant.', schema: id }],
    errors: ['invalid_id', 'plant_not_found'],
    responses: { 204: { description: 'The plant was deleted.', headers: headerRefs() } },
  },
  getOpenApi: {
    summary: 'Returns this document.',
    errors: [],
    responses: { 200: success('The OpenAPI 3.1.0 document.', { type: 'object' }) },
  },
};

/**
 * Returns the OpenAPI 3.1.0 description of the service. The description is generated from the same route table and
 * error table that the service uses. `serverUrl` is the URL or path that precedes every path in the description.
 *
 * @throws {TypeError} if `serverUrl` is not a URL or a path.
 * @example
 * await writeFile('openapi.json', JSON.stringify(createOpenApiDocument('https://example.org/garden')));
 */
export function createOpenApiDocument(serverUrl = '/'): Readonly<Record<string, unknown>> {
  if (typeof serverUrl !== 'string' || serverUrl === '' || !URL.canParse(serverUrl, 'http://localhost')) {
    throw new TypeError('serverUrl must be a URL or a path, such as https://example.org/garden');
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'OpenAPI Plant Store',
      description:
        'Keeps a collection of plants for each user. Requests for other paths receive a 404 response ' +
        '(RouteNotFound). Other methods receive a 405 response (MethodNotAllowed). HEAD receives the headers of the ' +
        'response to GET. OPTIONS receives a 204 response with Allow. Unknown query parameters are ignored.',
      version: '1.0.0',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl }],
    security: [{ bearerAuth: [] }],
    paths: Object.fromEntries(
      routes.map(({ path, operations }) => [
        path,
        Object.fromEntries(
          [...operations].map(([method, operation]) => [method.toLowerCase(), describeOperation(operation)]),
        ),
      ]),
    ),
    components: {
      schemas,
      headers,
      responses: {
        RouteNotFound: errorResponse(['route_not_found']),
        ...Object.fromEntries(
          Object.entries(sharedResponses).map(([status, [title, ...more]]) => {
            const all = Object.keys(errorTable) as ErrorCode[];
            const codes = all.filter((code) => errorTable[code].status === Number(status));
            return [title, errorResponse(codes, ...more)];
          }),
        ),
      },
      securitySchemes: {
        bearerAuth: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A token identifies a user. Its scopes (plants:read, plants:write) may limit what the caller can do.',
        },
      },
    },
  };
}

function describeOperation({ id: operationId, scope }: Operation): JsonObject {
  const { responses, errors, ...rest } = details[operationId];
  const ownErrors = Map.groupBy(['malformed_request', ...errors] as const, (code) => errorTable[code].status);
  const shared = scope === undefined ? [408, 431] : [401, 403, 408, 431, 500, 503];
  return {
    operationId,
    ...rest,
    // In OpenAPI 3.1, this array contains the scopes that a bearer token must have.
    security: scope === undefined ? [] : [{ bearerAuth: [scope] }],
    responses: {
      ...responses,
      ...Object.fromEntries([...ownErrors].map(([status, codes]) => [status, errorResponse(codes)])),
      ...Object.fromEntries(
        shared.map((status) => [status, { $ref: `#/components/responses/${sharedResponses[status]?.[0] ?? ''}` }]),
      ),
    },
  };
}

/** The codes must have the same status. */
function errorResponse(codes: readonly ErrorCode[], ...more: HeaderName[]): JsonObject {
  const error = { type: 'integer', enum: codes.map((code) => errorTable[code].integer) };
  return {
    description: codes.map((code) => `${errorTable[code].integer} ${code}: ${errorTable[code].message}`).join('\n\n'),
    headers: headerRefs(...more),
    content: json({ allOf: [schemaRef('Error'), { properties: { error } }] }),
  };
}

function success(description: string, schema: JsonObject, moreHeaders: JsonObject = {}): JsonObject {
  return { description, headers: { ...headerRefs(), ...moreHeaders }, content: json(schema) };
}

function headerRefs(...more: HeaderName[]): JsonObject {
  const names: HeaderName[] = ['Cache-Control', 'X-Content-Type-Options', 'X-Request-Id', ...more];
  return Object.fromEntries(names.map((header) => [header, { $ref: `#/components/headers/${header}` }]));
}
