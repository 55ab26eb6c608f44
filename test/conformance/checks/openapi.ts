import { expect, expectJson, expectStatus, fieldsOf } from '../expect.ts';
import type { Checks } from '../expect.ts';

/** Returns the value at a path of keys that are separated by spaces. Resolves references (RFC 6901). */
function valueAt(document: unknown, path: string): unknown {
  return path.split(' ').reduce((parent: unknown, key) => {
    const value = fieldsOf(parent)[key];
    const reference = fieldsOf(value)['$ref'];
    if (typeof reference !== 'string') return value;
    const keys = reference.replace('#/', '').split('/');
    return valueAt(document, keys.map((each) => each.replaceAll('~1', '/').replaceAll('~0', '~')).join(' '));
  }, document);
}

const newPlant = 'paths /plants post requestBody content application/json schema';

/** Which values must be at some paths of the document. */
const contents: Readonly<Record<string, (value: unknown) => boolean>> = {
  openapi: (value) => value === '3.1.0',
  'info title': (value) => value === 'OpenAPI Plant Store',
  'info version': (value) => value === '1.0.0',
  'info license name': (value) => value === 'MIT',
  'paths /plants post responses 200': (value) => value !== undefined,
  'paths /plants get responses 200': (value) => value !== undefined,
  'paths /plants/{id} delete responses 204': (value) => value !== undefined,
  'components securitySchemes': (value) =>
    Object.values(fieldsOf(value)).some((each) => {
      const { type, scheme } = fieldsOf(each);
      return type === 'http' && /^bearer$/i.test(String(scheme));
    }),
  [`${newPlant} required`]: (value) => Array.isArray(value) && value.toSorted().join() === 'id,name',
  [`${newPlant} properties id type`]: (value) => value === 'integer',
  [`${newPlant} properties id format`]: (value) => value === 'int64',
};

export const openApiChecks: Checks = {
  'openapi MUST describe the operations, the authentication and the body of POST /plants without credentials': async ({
    anonymous,
  }) => {
    const exchange = await expectStatus(anonymous.send('GET /openapi.json'), 200);
    const document = expectJson(exchange);
    for (const [path, isRight] of Object.entries(contents)) {
      const value = valueAt(document, path);
      expect(isRight(value), exchange, `another value at ${path} than ${JSON.stringify(value)}`);
    }
  },
};
