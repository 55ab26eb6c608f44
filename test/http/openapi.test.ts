import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { errorTable } from '../../src/index.ts';
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
  responses: Record<string, object>;
}

interface Document {
  openapi: string;
  info: { title: string; version: string; license: object };
  security: object[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, ObjectSchema>; securitySchemes: Record<string, object> };
}

const newDocument = (): Document => structuredClone(openApiDocument()) as unknown as Document;
const document = newDocument();

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

const isValid = async (candidate: object): Promise<boolean> =>
  (await new Validator().validate(candidate as JsonObject)).valid;

describe('GET /openapi.json', () => {
  it('serves the document without a token, and supports HEAD and OPTIONS', async (t) => {
    const service = await startService(t);
    const got = await service.call('GET', '/openapi.json', { token: null });
    assert.equal(got.status, 200);
    assert.equal(got.headers.get('content-type'), 'application/json');
    assert.deepEqual(got.json, JSON.parse(JSON.stringify(openApiDocument())));

    const head = await service.call('HEAD', '/openapi.json', { token: null });
    assert.equal(head.status, 200);
    assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(got.text)));

    const options = await service.call('OPTIONS', '/openapi.json', { token: null });
    assert.equal(options.status, 204);
    assert.equal(options.headers.get('allow'), 'GET, HEAD, OPTIONS');
  });

  it('ignores an invalid token', async (t) => {
    const service = await startService(t);
    assert.equal((await service.call('GET', '/openapi.json', { token: 'nobody' })).status, 200);
  });

  it('serves a valid OpenAPI 3.1.0 document', async (t) => {
    const service = await startService(t);
    const validator = new Validator();
    const { valid, errors } = await validator.validate((await service.call('GET', '/openapi.json')).json as JsonObject);
    assert.ok(valid, JSON.stringify(errors, null, 2));
    assert.equal(validator.version, '3.1');
    assert.equal(document.openapi, '3.1.0');
  });
});

describe('the validators of these tests', () => {
  it('reject invalid copies of the document', async () => {
    const breaks: ((broken: Document) => unknown)[] = [
      ({ info }) => Reflect.deleteProperty(info, 'title'),
      ({ components }) => Reflect.deleteProperty(components.schemas, 'Plant'),
      ({ paths }) => Reflect.set(paths['/plants']?.['get'] ?? {}, 'responses', { 200: {} }),
      ({ paths }) => Reflect.set(paths['/plants/{id}']?.['delete']?.parameters?.[0] ?? {}, 'required', false),
      ({ info }) => Reflect.set(info.license, 'url', 'https://example.org/license'),
    ];
    for (const breakIt of breaks) {
      const broken = newDocument();
      breakIt(broken);
      assert.equal(await isValid(broken), false, String(breakIt));
    }
  });

  it('reject an invalid schema', () => {
    assert.equal(new Ajv2020().validateSchema({ type: 'strnig' }), false);
  });
});

describe('openApiDocument', () => {
  it('has the specified title, version, license and global bearer authentication', () => {
    assert.equal(document.info.title, 'OpenAPI Plant Store');
    assert.equal(document.info.version, '1.0.0');
    assert.deepEqual(document.info.license, { name: 'MIT', identifier: 'MIT' });
    assert.deepEqual(document.security, [{ bearerAuth: [] }]);
    const { type, scheme } = document.components.securitySchemes['bearerAuth'] as Record<string, unknown>;
    assert.deepEqual({ type, scheme }, { type: 'http', scheme: 'bearer' });
  });

  it('contains only valid schemas of JSON Schema 2020-12', () => {
    const ajv = new Ajv2020();
    const schemas = [...Object.values(document.components.schemas), ...valuesOf('schema', document)];
    assert.ok(schemas.length > 20);
    for (const schema of schemas) assert.ok(ajv.validateSchema(schema as object), ajv.errorsText());
  });

  it('describes a Plant, and a NewPlant as a Plant with an id, without allOf', () => {
    const { Plant, NewPlant } = document.components.schemas;
    assert.deepEqual(Plant?.required, ['name']);
    assert.deepEqual(NewPlant?.required.toSorted(), ['id', 'name']);
    const { id, ...properties } = NewPlant.properties;
    assert.deepEqual(Object.keys(properties), ['name', 'tag']);
    assert.deepEqual(properties, Plant.properties);
    const { type, format } = id as Record<string, unknown>;
    assert.deepEqual({ type, format }, { type: 'integer', format: 'int64' });
    assert.equal('allOf' in NewPlant, false);
  });

  it('describes an Error', () => {
    const { Error } = document.components.schemas;
    assert.deepEqual(Error?.required, ['error', 'message']);
    const { type, format } = Error.properties['error'] as Record<string, unknown>;
    assert.deepEqual({ type, format }, { type: 'integer', format: 'int32' });
  });

  it('has an operation for each method of each route, and no others', () => {
    const served = routes.flatMap(({ path, operations: methods }) => [
      ...Object.keys(methods).map((method) => `${method} ${path}`),
      ...('GET' in methods ? [`HEAD ${path}`] : []),
      `OPTIONS ${path}`,
    ]);
    assert.deepEqual(operations.map(({ name }) => name).sort(), served.sort());
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
      const placeholders = [...name.matchAll(/\{(\w+)\}/g)].map(([, placeholder]) => placeholder);
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      assert.deepEqual(
        declared.map((parameter) => parameter.name),
        placeholders,
        name,
      );
      assert.ok(
        declared.every(({ required }) => required),
        name,
      );
    }
  });

  it('requires a token for the operations on plants only', () => {
    const open = operations.filter(({ operation }) => operation.security?.length === 0).map(({ name }) => name);
    const expected = ['GET /openapi.json', 'HEAD /openapi.json', ...routes.map(({ path }) => `OPTIONS ${path}`)];
    assert.deepEqual(open.sort(), expected.sort());
  });

  it('names the scope that each operation requires', () => {
    const scoped = new Map(operations.map(({ name, operation }) => [name, operation.security]));
    for (const name of ['GET /plants', 'HEAD /plants']) {
      assert.deepEqual(scoped.get(name), [{ bearerAuth: ['plants:read'] }]);
    }
    for (const name of ['POST /plants', 'DELETE /plants/{id}']) {
      assert.deepEqual(scoped.get(name), [{ bearerAuth: ['plants:write'] }]);
    }
  });

  it('has the types and ranges of limit, after and id', () => {
    const schemas = operations
      .filter(({ name }) => ['GET /plants', 'DELETE /plants/{id}'].includes(name))
      .flatMap(({ operation }) => operation.parameters ?? [])
      .map(({ name, schema: { type, format, minimum, maximum } }) => ({ name, type, format, minimum, maximum }));
    const unbounded = { minimum: undefined, maximum: undefined };
    assert.deepEqual(schemas, [
      { name: 'limit', type: 'integer', format: 'int32', minimum: 0, maximum: 2_147_483_647 },
      { name: 'after', type: 'integer', format: 'int64', ...unbounded },
      { name: 'id', type: 'integer', format: 'int64', ...unbounded },
    ]);
  });

  it('contains the integer of every error code, under its status', () => {
    const { components, paths } = openApiDocument() as Record<string, Record<string, unknown>>;
    const described = [paths, components].flatMap((part) => valuesOf('enum', part)).flat();
    const missing = Object.entries(errorTable).filter(([, { error }]) => !described.includes(error));
    // The user of a request is not part of the request.
    assert.deepEqual(
      missing.map(([code]) => code),
      ['invalid_user'],
    );
    for (const { name, operation } of operations) {
      for (const [status, response] of Object.entries(operation.responses)) {
        for (const error of valuesOf('enum', response).flat()) {
          assert.equal(Math.floor(Number(error) / 100), Number(status), `${name} ${status}: ${String(error)}`);
        }
      }
    }
  });
});
