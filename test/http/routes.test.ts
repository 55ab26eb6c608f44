import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnBothFronts } from '../support/service.ts';
import { createPlants } from '../support/stored-plants.ts';

describeOnBothFronts('basePath', (start) => {
  it('is the prefix in Link and in the server URL, whether or not the request path contains it', async (t) => {
    // The second base path is itself a route.
    for (const basePath of ['/garden', '/plants', '/~ada/b-c/%7Bd%7D']) {
      const service = await start(t, { basePath });
      await createPlants(service.store, 2);
      const headers = { authorization: 'Bearer ada' };
      const get = (target: string): Promise<Response> => service.send(new Request(service.url + target, { headers }));
      for (const prefix of ['', basePath]) {
        const { headers: received } = await get(`${prefix}/plants?limit=1`);
        assert.equal(received.get('link'), `<${basePath}/plants?limit=1&after=0>; rel="next"`);
        const document = (await (await get(`${prefix}/openapi.json`)).json()) as { servers: unknown };
        assert.deepEqual(document.servers, [{ url: basePath }]);
        const absent = new Request(`${service.url}${prefix}/plants/7`, { method: 'DELETE', headers });
        assert.match(await (await service.send(absent)).text(), /40402/);
      }
      for (const target of ['/gardens/plants', '/garden', '/garden/garden/plants', '/Garden/plants', '//x/plants']) {
        assert.equal((await get(target)).status, 404, target);
      }
    }
  });
});
