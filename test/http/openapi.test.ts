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

it('GET /openapi.json returns a valid OpenAPI 3.1 document that describes every operation', async (t) => {
  const { json } = await createFetchService(t).call('GET', '/openapi.json', { token: null });
  const validator = new Validator();
  const { valid, errors } = await validator.validate(json as Readonly<Record<string, unknown>>);
  assert.ok(valid, JSON.stringify(errors, null, 2));
  assert.equal(validator.version, '3.1');
  const { paths, components } = json as Described;
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

it('the OpenAPI document describes the errors of a storage and of a closed store', async (t) => {
  const storage = new HookedStorage();
  const service = createFetchService(t, { store: new PlantStore({ storage, maxCacheBytes: 0 }) });
  for (const code of ['storage_unsupported', 'storage_unavailable', 'closed'] as const) {
    storage.beforeCommit = storage.beforeList = () => {
      // Another copy of the package throws such an error.
      throw Object.assign(new Error(), { name: 'PlantStoreError', code });
    };
    if (code === 'closed') await service.store.close();
    // service.call asserts that the document describes the response.
    for (const { error } of [
      await service.call('GET', '/plants'),
      await service.call('POST', '/plants', { body: '{"id":1,"name":"Fern"}' }),
      await service.call('DELETE', '/plants/1'),
    ]) {
      assert.equal(error, errorTable[code].integer);
    }
  }
  assert.equal(service.faults.length, 6, 'a closed store is not reported');
});

it('createOpenApiDocument throws a TypeError if serverUrl is not a string with a URL or a path', () => {
  for (const url of ['https://example.org/garden', '/garden', '/', undefined]) createOpenApiDocument(url);
  for (const url of ['', 7, null, {}, 'http://', new URL('http://x')]) {
    assert.throws(() => createOpenApiDocument(url as string), { name: 'TypeError', message: /^serverUrl must be/ });
  }
});
