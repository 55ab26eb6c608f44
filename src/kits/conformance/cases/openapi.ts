import { checksOf } from '../check-case.ts';
import type { Check, CheckCase } from '../check-case.ts';
import type { CheckClient } from '../check-client.ts';
import type { Exchange } from '../exchange.ts';
import { expect, expectJson, expectJsonType, expectStatus, fieldsOf } from '../expect.ts';

type Json = Readonly<Record<string, unknown>>;

/** An OpenAPI document. */
class Document {
  readonly #root: unknown;

  constructor(root: unknown) {
    this.#root = root;
  }

  /** Returns the value at these keys, separated by spaces. Resolves references within the document (RFC 6901). */
  at(keys: string): unknown {
    return keys.split(' ').reduce((value: unknown, key) => this.resolve(fieldsOf(value)[key]), this.#root);
  }

  /** Returns the value to which a reference refers, or the value itself if it is not a reference. */
  resolve(value: unknown): unknown {
    const reference = fieldsOf(value)['$ref'];
    if (typeof reference !== 'string' || !reference.startsWith('#/')) return value;
    const keys = reference.slice(2).split('/');
    return this.at(keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')).join(' '));
  }
}

/** Returns a check that reads the OpenAPI document. Sends no token, because none is required. */
function reads(check: (document: Document, exchange: Exchange, client: CheckClient) => unknown): Check {
  return async (client) => {
    const exchange = await expectStatus(client.anonymous.send('GET /openapi.json'), 200);
    await check(new Document(expectJson(exchange)), exchange, client);
  };
}

/** Returns the description of the query parameter `limit`, of the operation or of its path. */
function limitOf(document: Document): Json | undefined {
  const lists = ['paths /plants parameters', 'paths /plants get parameters'].map((keys) => document.at(keys));
  const items = lists.flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  return items.map((item) => fieldsOf(document.resolve(item))).find(({ name }) => name === 'limit');
}

/**
 * Checks of GET /openapi.json and of the correctness of the document. These checks must run last, because they compare
 * the document with the responses that all other checks have received.
 */
export const openApiCases: readonly CheckCase[] = checksOf('the interface itself', {
  'openapi-200 MUST respond to GET /openapi.json without credentials with 200 and JSON': reads((_, exchange) =>
    expectJsonType(exchange),
  ),
  'openapi-version MUST describe itself in OpenAPI 3.1.0': reads((document, exchange) => {
    expect(document.at('openapi') === '3.1.0', exchange, '"openapi": "3.1.0"');
  }),
  'openapi-info MUST have the title "OpenAPI Plant Store", the version 1.0.0 and the MIT licence': reads(
    (document, exchange) => {
      expect(document.at('info title') === 'OpenAPI Plant Store', exchange, 'the title "OpenAPI Plant Store"');
      expect(document.at('info version') === '1.0.0', exchange, 'the version "1.0.0"');
      expect(document.at('info license name') === 'MIT', exchange, 'the licence MIT');
    },
  ),
  'openapi-operations MUST describe POST /plants, GET /plants and DELETE /plants/{id}': reads((document, exchange) => {
    for (const [operation, status] of [
      ['POST /plants', '200'],
      ['GET /plants', '200'],
      ['DELETE /plants/{id}', '204'],
    ] as const) {
      const [method = '', path = ''] = operation.split(' ');
      const response = document.at(`paths ${path} ${method.toLowerCase()} responses ${status}`);
      expect(response !== undefined, exchange, `the status ${status} of ${operation}`);
    }
  }),
  'openapi-authentication MUST describe HTTP bearer authentication [Authentication]': reads((document, exchange) => {
    const schemes = Object.values(fieldsOf(document.at('components securitySchemes'))).map(fieldsOf);
    const isBearer = schemes.some((each) => each['type'] === 'http' && /^bearer$/i.test(String(each['scheme'])));
    expect(isBearer, exchange, 'a security scheme of the type "http" and the scheme "bearer"');
  }),
  'openapi-limit MUST describe limit as an int32 of 0 or more [limit]': reads((document, exchange) => {
    const limit = limitOf(document);
    const schema = fieldsOf(limit?.['schema']);
    const isInt32 = schema['type'] === 'integer' && schema['format'] === 'int32' && schema['minimum'] === 0;
    const isRight = limit?.['in'] === 'query' && isInt32;
    expect(isRight, exchange, 'a query parameter limit of type integer, format int32 and minimum 0');
  }),
  'openapi-new-plant MUST describe the body of POST /plants with id, name and tag [NewPlant]': reads(
    (document, exchange) => {
      const schema = 'paths /plants post requestBody content application/json schema';
      const id = fieldsOf(document.at(`${schema} properties id`));
      const required = document.at(`${schema} required`);
      const isRequired = Array.isArray(required) && required.toSorted().join() === 'id,name';
      const isRight = isRequired && id['type'] === 'integer' && id['format'] === 'int64';
      expect(isRight, exchange, 'required id and name, and an id of format int64');
    },
  ),
  'openapi-statuses MUST describe every status that it has responded with in this run': reads(
    (document, exchange, { observed }) => {
      for (const each of observed) {
        const [method = '', path = '', status = ''] = each.split(' ');
        const operation = document.at(`paths ${path} ${method}`);
        // A response to an unknown path or method does not belong to any operation.
        if (operation === undefined) continue;
        const responses = fieldsOf(fieldsOf(operation)['responses']);
        const isDescribed = [status, `${status.charAt(0)}XX`, 'default'].some((key) => key in responses);
        const response = `the status ${status} of ${method.toUpperCase()} ${path}`;
        expect(isDescribed, exchange, `${response}, which it has responded with`);
      }
    },
  ),
});
