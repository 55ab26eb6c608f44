import { inspect } from 'node:util';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import { createFetchHandler } from '../../src/fetch.ts';
import { createPlantServer, createRequestListener } from '../../src/http.ts';
import { authenticateByName } from '../support/service.ts';

const store = new PlantStore({ storage: new MemoryStorage() });
const create = (options: object): unknown =>
  createRequestListener(store, { authenticate: authenticateByName, ...options });

describe('service options', () => {
  it('reject an invalid value with a TypeError that names the option', () => {
    const wrong: [name: string, values: unknown[], message: RegExp][] = [
      ['authenticate', [undefined], /authenticate/],
      ['onError', ['x'], /onError/],
      ['maxBodyBytes', [0], /^maxBodyBytes must be an integer of 1 or more$/],
      ['maxInFlight', [0, 1.5, NaN], /^maxInFlight must be an integer/],
      ['trustedProxies', [-1], /^trustedProxies must be an integer of 0 or more$/],
      ['basePath', ['garden', '/garden/', '/', '//garden', '/a b', '/%7', null], /^basePath must be a path/],
    ];
    for (const [name, values, message] of wrong) {
      for (const value of values) {
        assert.throws(() => create({ [name]: value }), { name: 'TypeError', message }, `${name}: ${inspect(value)}`);
      }
    }
  });

  it('reject an unknown option or a store that is not a PlantStore, with a TypeError', () => {
    const options = { authenticate: authenticateByName, mountPath: '/garden' };
    for (const called of [createFetchHandler, createPlantServer, createRequestListener]) {
      const message = new RegExp(`^${called.name} has no option mountPath`);
      assert.throws(() => called(store, options), { name: 'TypeError', message });
      const noStore = { name: 'TypeError', message: /^store must be a PlantStore/ };
      assert.throws(() => called(new MemoryStorage() as never, options), noStore);
    }
  });

  it('accept a basePath that is empty or an absolute path', () => {
    for (const basePath of ['', '/garden', '/a/b-c/%7Bd%7D', '/~ada']) create({ basePath });
  });
});
