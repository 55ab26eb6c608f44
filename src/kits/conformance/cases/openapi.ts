import { must, plantStore } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import type { CheckClient, Observed } from '../check-client.ts';
import type { Exchange } from '../exchange.ts';
import { expect, expectJson, expectStatus, fieldsOf, mediaType } from '../expect.ts';

const source = plantStore('the interface itself');

type Json = Readonly<Record<string, unknown>>;

/** Reads the OpenAPI document. Sends no token, because none is required. */
async function readDocument({ anonymous }: CheckClient): Promise<{ document: Json; exchange: Exchange }> {
  const exchange = await anonymous.send('GET', '/openapi.json');
  expectStatus(exchange, 200);
  return { document: fieldsOf(expectJson(exchange)), exchange };
}

/** Returns the value at the path `keys` in the document. Resolves references within the document (RFC 6901). */
function valueAt(document: Json, ...keys: readonly string[]): unknown {
  let value: unknown = document;
  for (const key of keys) value = resolved(document, fieldsOf(value)[key]);
  return value;
}

function resolved(document: Json, value: unknown): unknown {
  const reference = fieldsOf(value)['$ref'];
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return value;
  const keys = reference.slice(2).split('/');
  return valueAt(document, ...keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')));
}

/** Returns the path, the method and the status under which the document must describe a response. */
function describedAt({ method, target, status }: Observed): [string, string, string] {
  const path = target.replace(/\?.*/s, '').replace(/^\/plants\/[^/]+$/, '/plants/{id}');
  return [path, method.toLowerCase(), String(status)];
}

/** Returns the descriptions of an operation's parameters, including those that apply to all operations of its path. */
function parametersOf(document: Json, path: string, method: string): Json[] {
  const lists = [
    valueAt(document, 'paths', path, 'parameters'),
    valueAt(document, 'paths', path, method, 'parameters'),
  ];
  return lists
    .flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))
    .map((item) => fieldsOf(resolved(document, item)));
}

/**
 * Checks of GET /openapi.json and of the correctness of the document. These checks must run last, because they compare
 * the document with the responses that all other checks have received.
 */
export const openApiCases: readonly CheckCase[] = [
  must('openapi-200', 'respond to GET /openapi.json without credentials with 200 and JSON', source, async (client) => {
    const { exchange } = await readDocument(client);
    expect(mediaType(exchange) === 'application/json', exchange, 'the media type application/json');
  }),
  must('openapi-version', 'describe itself in OpenAPI 3.1.0', source, async (client) => {
    const { document, exchange } = await readDocument(client);
    expect(document['openapi'] === '3.1.0', exchange, '"openapi": "3.1.0"');
  }),
  must(
    'openapi-info',
    'have the title "OpenAPI Plant Store", the version 1.0.0 and the MIT licence',
    source,
    async (client) => {
      const { document, exchange } = await readDocument(client);
      const info = fieldsOf(document['info']);
      expect(info['title'] === 'OpenAPI Plant Store', exchange, 'the title "OpenAPI Plant Store"');
      expect(info['version'] === '1.0.0', exchange, 'the version "1.0.0"');
      expect(fieldsOf(info['license'])['name'] === 'MIT', exchange, 'the licence MIT');
    },
  ),
  must('openapi-operations', 'describe POST /plants, GET /plants and DELETE /plants/{id}', source, async (client) => {
    const { document, exchange } = await readDocument(client);
    for (const [path, method, status] of [
      ['/plants', 'post', '200'],
      ['/plants', 'get', '200'],
      ['/plants/{id}', 'delete', '204'],
    ] as const) {
      const responses = valueAt(document, 'paths', path, method, 'responses', status);
      expect(responses !== undefined, exchange, `the status ${status} of ${method.toUpperCase()} ${path}`);
    }
  }),
  must(
    'openapi-authentication',
    'describe HTTP bearer authentication',
    plantStore('Authentication'),
    async (client) => {
      const { document, exchange } = await readDocument(client);
      const schemes = Object.values(fieldsOf(valueAt(document, 'components', 'securitySchemes')));
      const isBearer = schemes.some((scheme) => {
        const { type, scheme: name } = fieldsOf(scheme) as { type?: unknown; scheme?: unknown };
        return type === 'http' && String(name).toLowerCase() === 'bearer';
      });
      expect(isBearer, exchange, 'a security scheme of the type "http" and the scheme "bearer"');
    },
  ),
  must('openapi-limit', 'describe limit as an int32 of 0 or more', plantStore('limit'), async (client) => {
    const { document, exchange } = await readDocument(client);
    const limit = parametersOf(document, '/plants', 'get').find(({ name }) => name === 'limit');
    const { type, format, minimum } = fieldsOf(limit?.['schema']) as Record<'type' | 'format' | 'minimum', unknown>;
    const isRight = limit?.['in'] === 'query' && type === 'integer' && format === 'int32' && minimum === 0;
    expect(isRight, exchange, 'a query parameter limit of type integer, format int32 and minimum 0');
  }),
  must(
    'openapi-new-plant',
    'describe the body of POST /plants with id, name and tag',
    plantStore('NewPlant'),
    async (client) => {
      const { document, exchange } = await readDocument(client);
      const at = ['paths', '/plants', 'post', 'requestBody', 'content', 'application/json', 'schema'];
      const { type, format } = fieldsOf(valueAt(document, ...at, 'properties', 'id')) as Record<
        'type' | 'format',
        unknown
      >;
      const required = valueAt(document, ...at, 'required');
      const isRight = Array.isArray(required) && required.toSorted().join() === 'id,name';
      expect(
        isRight && type === 'integer' && format === 'int64',
        exchange,
        'required id and name, and an id of format int64',
      );
    },
  ),
  must('openapi-statuses', 'describe every status that it has responded with in this run', source, async (client) => {
    const { document, exchange } = await readDocument(client);
    for (const observed of client.observed) {
      const [path, method, status] = describedAt(observed);
      const operation = valueAt(document, 'paths', path, method);
      // A response to an unknown path or method does not belong to any operation.
      if (operation === undefined) continue;
      const responses = fieldsOf(fieldsOf(operation)['responses']);
      const isDescribed = [status, `${status.charAt(0)}XX`, 'default'].some((key) => key in responses);
      expect(
        isDescribed,
        exchange,
        `the status ${status} of ${method.toUpperCase()} ${path}, which it has responded with`,
      );
    }
  }),
];
