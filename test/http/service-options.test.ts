import { inspect } from 'node:util';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import { createRequestListener } from '../../src/http.ts';
import { authenticateByName } from '../support/service.ts';

const store = new PlantStore({ storage: new MemoryStorage() });
const wrong: [options: object, message: RegExp][] = [
  [{ authenticate: undefined }, /authenticate/],
  [{ onError: 'x' }, /onError/],
  [{ maxBodyBytes: 0 }, /^maxBodyBytes must be an integer of 1 or more$/],
  ...[0, -1, 1.5, NaN].map((maxInFlight): [object, RegExp] => [{ maxInFlight }, /^maxInFlight must be an integer/]),
  ...['garden', '/garden/', '/', '//garden', '/a b', '/a?b', '/a>', 7, null].map((basePath): [object, RegExp] => [
    { basePath },
    /^basePath must be a path/,
  ]),
];

describe('service options', () => {
  for (const [options, message] of wrong) {
    it(`reject ${inspect(options)} with a TypeError that names the option`, () => {
      const create = (): unknown => createRequestListener(store, { authenticate: authenticateByName, ...options });
      assert.throws(create, { name: 'TypeError', message });
    });
  }

  for (const basePath of ['', '/garden', '/a/b-c/%7Bd%7D', '/~ada']) {
    it(`accept the basePath '${basePath}'`, () => {
      createRequestListener(store, { authenticate: authenticateByName, basePath });
    });
  }
});
