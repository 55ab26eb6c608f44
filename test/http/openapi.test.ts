import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { createOpenApiDocument } from '../../src/http.ts';
import { errorTable, PlantStore } from '../../src/index.ts';
import { HookedStorage } from '../support/hooked-storage.ts';
import { createFetchService } from '../support/service.ts';

interface Operation {
  operationId: string;
  security: { bearerAuth: string[] }[];
  parameters?: { in: string; name: string; schema: { format: string } }[];
}
interface Described {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: { Plant: { properties: object; required: string[] } } };
}

it('GET /openapi.json returns a valid OpenAPI 3.1.0 document without a token', async (t) => {
  const service = createFetchService(t);
  const got = await service.call('GET', '/openapi.json', { token: null });
  assert.deepEqual(got.json, JSON.parse(JSON.stringify(createOpenApiDocument())));
  const validator = new Validator();
  const { valid, errors } = await validator.validate(got.json as Readonly<Record<string, unknown>>);
  assert.ok(valid, JSON.stringify(errors, null, 2));
  assert.equal(validator.version, '3.1');
});

it('the OpenAPI document describes the errors of a storage and of a closed store', async (t) => {
  const storage = new HookedStorage();
  const service = createFetchService(t, { store: new PlantStore({ storage, maxCacheBytes: 0 }) });
  // service.call asserts that the document describes the response.
  const assertErrors = async (code: keyof typeof errorTable): Promise<void> => {
    for (const { error } of [
      await service.call('GET', '/plants'),
      await service.call('POST', '/plants', { body: '{"id":1,"name":"Fern"}' }),
      await service.call('DELETE', '/plants/1'),
    ]) {
      assert.equal(error, errorTable[code].integer);
    }
  };
  for (const code of ['storage_unsupported', 'storage_unavailable'] as const) {
    storage.beforeCommit = storage.beforeList = () => {
      // Another copy of the package throws such an error.
      throw Object.assign(new Error(), { name: 'PlantStoreError', code });
    };
    await assertErrors(code);
  }
  await service.store.close();
  service.faults.length = 0;
  await assertErrors('closed');
  assert.deepEqual(service.faults, [], 'a closed store is not reported');
});

it('createOpenApiDocument contains each operation, and a Plant without an id, whose tag may be missing', () => {
  const { paths, components } = createOpenApiDocument() as unknown as Described;
  const described = Object.values(paths)
    .flatMap((path) => Object.values(path))
    .map(({ operationId, security, parameters = [] }) => {
      const named = parameters.map((each) => `${each.in} ${each.name}: ${each.schema.format}`);
      return [operationId, ...security.flatMap((each) => each.bearerAuth), ...named].join(', ');
    });
  assert.deepEqual(described.sort(), [
    'createPlant, plants:write',
    'deletePlant, plants:write, path id: int64',
    'getOpenApi',
    'getPlants, plants:read, query limit: int32, query after: int64',
  ]);
  const { properties, required } = components.schemas.Plant;
  assert.deepEqual([Object.keys(properties), required], [['name', 'tag'], ['name']]);
  assert.partialDeepStrictEqual(properties, { name: { type: 'string' }, tag: { type: 'string' } });
});

it('createOpenApiDocument throws a TypeError if its argument is not a URL or a path', () => {
  for (const url of ['https://example.org/garden', '/garden', '/', undefined]) createOpenApiDocument(url);
  for (const url of ['', 7, null, {}, 'http://', new URL('http://x')]) {
    assert.throws(() => createOpenApiDocument(url as string), { name: 'TypeError', message: /^serverUrl must be/ });
  }
});
