import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { openApiDocument } from '../../src/http.ts';
import { startService } from '../support/service.ts';

interface Operation {
  operationId?: string;
  security?: { bearerAuth: string[] }[];
  parameters?: { name: string; in: string; required?: boolean; schema: Record<string, unknown> }[];
}

interface Document {
  info: { license: object };
  paths: Record<string, Record<string, Operation>>;
}

const document = openApiDocument() as unknown as Document;

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, ...operation })),
);

describe('GET /openapi.json', () => {
  it('returns a valid OpenAPI 3.1.0 document without requiring a token, and supports HEAD', async (t) => {
    const service = await startService(t);
    const got = await service.call('GET', '/openapi.json', { token: null });
    assert.deepEqual(got.json, JSON.parse(JSON.stringify(openApiDocument())));
    const head = await service.call('HEAD', '/openapi.json', { token: 'nobody' });
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(Buffer.byteLength(got.text))]);
    const validator = new Validator();
    const { valid, errors } = await validator.validate(got.json as Readonly<Record<string, unknown>>);
    assert.ok(valid, JSON.stringify(errors, null, 2));
    assert.equal(validator.version, '3.1');
    assert.deepEqual(document.info.license, { name: 'MIT', identifier: 'MIT' });
  });
});

describe('openApiDocument', () => {
  it('contains a unique operationId and the required scope, if any, for each operation', () => {
    const described = operations.map(({ name, operationId, security }) => {
      const scopes = security?.map(({ bearerAuth }) => bearerAuth).join();
      return `${name} ${operationId} ${scopes}`.trim();
    });
    assert.deepEqual(described, [
      'GET /plants getPlants plants:read',
      'POST /plants createPlant plants:write',
      'DELETE /plants/{id} deletePlant plants:write',
      'GET /openapi.json getOpenApi',
    ]);
  });

  it('declares every path parameter', () => {
    for (const { name, parameters = [] } of operations) {
      const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
      const declared = parameters.filter(({ in: place, required }) => place === 'path' && required);
      assert.deepEqual(
        declared.map((parameter) => parameter.name),
        inPath,
        name,
      );
    }
  });

  it('throws a TypeError if its argument is not a URL or a path', () => {
    for (const url of ['https://example.org/garden', '/garden', '/', undefined]) openApiDocument(url);
    for (const url of ['', 7, null, {}, 'http://', new URL('http://x')]) {
      assert.throws(() => openApiDocument(url as string), { name: 'TypeError', message: /^serverUrl must be/ });
    }
  });

  it('contains the types and ranges of limit, after, id and error', () => {
    const schemas = operations
      .filter(({ name }) => ['GET /plants', 'DELETE /plants/{id}'].includes(name))
      .flatMap(({ parameters = [] }) => parameters)
      .map(({ name, in: place, required = false, schema: { type, format, minimum, maximum } }) =>
        [name, place, required, type, format, minimum, maximum].join(' '),
      );
    assert.deepEqual(schemas, [
      'limit query false integer int32 0 2147483647',
      'after query false integer int64  ',
      'id path true integer int64  ',
    ]);
    const Error = { required: ['error', 'message'], properties: { error: { type: 'integer', format: 'int32' } } };
    assert.partialDeepStrictEqual(openApiDocument(), { components: { schemas: { Error } } });
  });
});
