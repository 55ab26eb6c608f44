import type { Exchange } from '../exchange.ts';
import { expect, expectJson, expectStatus, fieldsOf } from '../expect.ts';
import type { Check, Checks } from '../expect.ts';

/** Returns the value at a path of keys that are separated by spaces. Resolves references (RFC 6901). */
function valueAt(document: unknown, path: string): unknown {
  return path.split(' ').reduce((parent: unknown, key) => {
    const value = fieldsOf(parent)[key];
    const reference = fieldsOf(value)['$ref'];
    if (typeof reference !== 'string' || !reference.startsWith('#/')) return value;
    const keys = reference.slice(2).split('/');
    return valueAt(document, keys.map((each) => each.replaceAll('~1', '/').replaceAll('~0', '~')).join(' '));
  }, document);
}

/** Returns a check that reads the OpenAPI document. It sends no token, because the document is public. */
function reads(check: (at: (path: string) => unknown, exchange: Exchange) => unknown): Check {
  return async (c) => {
    const exchange = await expectStatus(c.anonymous.send('GET /openapi.json'), 200);
    const document = expectJson(exchange);
    await check((path) => valueAt(document, path), exchange);
  };
}

const newPlant = 'paths /plants post requestBody content application/json schema';

/** Tests of GET /openapi.json. */
export const openApiChecks: Checks = {
  'openapi-info MUST serve an OpenAPI 3.1.0 document with the title, version and license': reads((at, exchange) => {
    const expected = {
      openapi: '3.1.0',
      'info title': 'OpenAPI Plant Store',
      'info version': '1.0.0',
      'info license name': 'MIT',
    };
    for (const [path, value] of Object.entries(expected)) expect(at(path) === value, exchange, `"${value}" at ${path}`);
  }),
  'openapi-operations MUST describe POST /plants, GET /plants and DELETE /plants/{id}': reads((at, exchange) => {
    for (const operation of [
      '/plants post responses 200',
      '/plants get responses 200',
      '/plants/{id} delete responses 204',
    ]) {
      expect(at(`paths ${operation}`) !== undefined, exchange, operation);
    }
  }),
  'openapi-authentication MUST describe HTTP bearer authentication': reads((at, exchange) => {
    const schemes = Object.values(fieldsOf(at('components securitySchemes'))).map(fieldsOf);
    const isBearer = schemes.some((each) => each['type'] === 'http' && /^bearer$/i.test(String(each['scheme'])));
    expect(isBearer, exchange, 'a security scheme of the type "http" and the scheme "bearer"');
  }),
  'openapi-new-plant MUST describe the body of POST /plants with id, name and tag': reads((at, exchange) => {
    const required = at(`${newPlant} required`);
    const { type, format } = fieldsOf(at(`${newPlant} properties id`));
    const isRequired = Array.isArray(required) && required.toSorted().join() === 'id,name';
    const isRight = isRequired && type === 'integer' && format === 'int64';
    expect(isRight, exchange, 'required id and name, and an id of format int64');
  }),
};
