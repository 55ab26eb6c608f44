import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../src/http.ts';
import { routes } from '../../src/http/routes.ts';
import { startService } from '../support/service.ts';

type JsonObject = Readonly<Record<string, unknown>>;

interface ObjectSchema {
  required: string[];
  properties: Record<string, object>;
}

interface Operation {
  operationId?: string;
  security?: object[];
  parameters?: { name: string; in: string; required?: boolean; schema: Record<string, unknown> }[];
}

interface Document {
  openapi: string;
  info: { license: object };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, ObjectSchema> };
}

const document = openApiDocument() as unknown as Document;

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
);

/** Returns all values of a key, at any depth. */
function valuesOf(key: string, value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value as Record<string, unknown>).flatMap(([name, inner]) => [
    ...(name === key ? [inner] : []),
    ...valuesOf(key, inner),
  ]);
}

describe('GET /openapi.json', () => {
  it('serves the document without a token, and supports HEAD and OPTIONS', async (t) => {
    const service = await startService(t);
    const got = await service.call('GET', '/openapi.json', { token: null });
    assert.deepEqual([got.status, got.headers.get('content-type')], [200, 'application/json']);
    assert.deepEqual(got.json, JSON.parse(JSON.stringify(openApiDocument())));
    const head = await service.call('HEAD', '/openapi.json', { token: 'nobody' });
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(Buffer.byteLength(got.text))]);
    const options = await service.call('OPTIONS', '/openapi.json', { token: null });
    assert.deepEqual([options.status, options.headers.get('allow')], [204, 'GET, HEAD, OPTIONS']);
  });

  it('serves a valid OpenAPI 3.1.0 document', async (t) => {
    const service = await startService(t);
    const validator = new Validator();
    const { valid, errors } = await validator.validate((await service.call('GET', '/openapi.json')).json as JsonObject);
    assert.ok(valid, JSON.stringify(errors, null, 2));
    assert.deepEqual([validator.version, document.openapi], ['3.1', '3.1.0']);
    assert.deepEqual(document.info.license, { name: 'MIT', identifier: 'MIT' });
  });
});

describe('openApiDocument', () => {
  it('contains only valid schemas of JSON Schema 2020-12', () => {
    const ajv = new Ajv2020();
    const schemas = [...Object.values(document.components.schemas), ...valuesOf('schema', document)];
    assert.ok(schemas.length > 20);
    for (const schema of schemas) assert.ok(ajv.validateSchema(schema as object), ajv.errorsText());
  });

  it('describes a Plant, a NewPlant as a Plant with an id, without allOf, and an Error', () => {
    const { Plant, NewPlant, Error } = document.components.schemas;
    assert.deepEqual(Error?.required, ['error', 'message']);
    assert.partialDeepStrictEqual(Error.properties['error'], { type: 'integer', format: 'int32' });
    assert.deepEqual(Plant?.required, ['name']);
    assert.deepEqual(NewPlant?.required.toSorted(), ['id', 'name']);
    const { id, ...properties } = NewPlant.properties;
    assert.deepEqual(Object.keys(properties), ['name', 'tag']);
    assert.deepEqual(properties, Plant.properties);
    assert.partialDeepStrictEqual(id, { type: 'integer', format: 'int64' });
    assert.equal('allOf' in NewPlant, false);
  });

  it('has the operationId of each operation in the routes table exactly once', () => {
    const all = operations.map(({ operation }) => operation.operationId ?? assert.fail('an operation has none'));
    assert.equal(new Set(all).size, all.length);
    const ids = all.filter((id) => !/^(head|options)Of/.test(id)).sort();
    assert.deepEqual(ids, ['createPlant', 'deletePlant', 'getOpenApi', 'getPlants']);
    assert.deepEqual(ids, routes.flatMap((route) => Object.values(route.operations).map(({ id }) => id)).sort());
  });

  it('declares exactly the placeholders of each path as required parameters', () => {
    for (const { name, operation } of operations.filter((each) => !each.name.startsWith('OPTIONS'))) {
      const placeholders = [...name.matchAll(/\{(\w+)\}/g)].map(([, placeholder]) => [placeholder, true]);
      const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      const declared = inPath.map((parameter) => [parameter.name, parameter.required]);
      assert.deepEqual(declared, placeholders, name);
    }
  });

  it('requires a token for the operations on plants only', () => {
    const open = operations.filter(({ operation }) => operation.security?.length === 0).map(({ name }) => name);
    const expected = ['GET /openapi.json', 'HEAD /openapi.json', ...routes.map(({ path }) => `OPTIONS ${path}`)];
    assert.deepEqual(open.sort(), expected.sort());
  });

  it('names the scope that each operation requires', () => {
    const scoped = new Map(operations.map(({ name, operation }) => [name, operation.security]));
    const expected = {
      'GET /plants': 'read',
      'HEAD /plants': 'read',
      'POST /plants': 'write',
      'DELETE /plants/{id}': 'write',
    };
    for (const [name, scope] of Object.entries(expected)) {
      assert.deepEqual(scoped.get(name), [{ bearerAuth: [`plants:${scope}`] }], name);
    }
  });

  it('has the types and ranges of limit, after and id', () => {
    const schemas = operations
      .filter(({ name }) => ['GET /plants', 'DELETE /plants/{id}'].includes(name))
      .flatMap(({ operation }) => operation.parameters ?? [])
      .map(({ name, schema: { type, format, minimum, maximum } }) => [name, type, format, minimum, maximum]);
    assert.deepEqual(schemas, [
      ['limit', 'integer', 'int32', 0, 2_147_483_647],
      ['after', 'integer', 'int64', undefined, undefined],
      ['id', 'integer', 'int64', undefined, undefined],
    ]);
  });
});
