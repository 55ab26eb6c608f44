import assert from 'node:assert/strict';
import { it } from 'node:test';
import { evalArgs, runProgram } from '../support/run-program.ts';
import { sourceUrl } from '../support/sources.ts';

/** As with zone.js, the promises of async functions are not instances of the global Promise. */
const program = `
  globalThis.Promise = class extends Promise {};
  const { MemoryStorage, PlantStore } = await import('${sourceUrl('index.ts')}');
  const { createFetchHandler } = await import('${sourceUrl('fetch.ts')}');
  const store = new PlantStore({ storage: new MemoryStorage() });
  const plants = createFetchHandler(
    {
      createPlant: (user, plant) => store.createPlant(user, plant),
      listPageJson: (user, options) => store.listPageJson(user, options),
      deletePlant: async () => { throw new Error('the store is broken'); },
    },
    {
      authenticate: async (token) => (token === 'ada' ? { user: 'ada' } : null),
      onError: async () => { throw new Error('the hook is broken'); },
    },
  );
  const call = async (token, method, path, body) => {
    const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
    const response = await plants(new Request('http://x' + path, { method, headers, body }));
    console.log(response.status, await response.text());
  };
  await call('ada', 'POST', '/plants', '{"id":7,"name":"Fern"}');
  await call('ada', 'GET', '/plants');
  await call('eve', 'GET', '/plants');
  await call('ada', 'DELETE', '/plants/7');
`;

it('a service works if another Promise replaces the global one, and its hooks still cannot end the process', async () => {
  const { code, stdout, stderr } = await runProgram(process.execPath, evalArgs(program));
  assert.equal(code, 0, stderr);
  const statuses = stdout.match(/^\d+/gm)?.join(' ');
  assert.equal(statuses, '200 200 401 500', stdout);
  assert.match(
    stderr,
    /^onError failed: Error: the hook is broken[^]*DELETE \/plants\/\{id\} failed: Error: the store/,
  );
});
