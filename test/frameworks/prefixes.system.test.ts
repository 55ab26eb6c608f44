import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { it } from 'node:test';
import { followLinks } from '../support/call.ts';
import { listenUrl } from '../support/listen.ts';
import { createListener } from '../support/service.ts';
import { createPlants } from '../support/stored-plants.ts';
import { apps, arePackagesInstalled } from './program.ts';

type ServiceListener = ReturnType<typeof createListener>['listener'];

/** The exports of apps/prefixes.js. */
interface Module {
  readonly apps: Readonly<Record<string, (plants: ServiceListener) => RequestListener | Promise<RequestListener>>>;
}

it('Link leads to the last page, and OpenAPI names the prefix, in each framework that removes it', async (t) => {
  if (!arePackagesInstalled(t, apps)) return;
  const { apps: mounts } = (await import(join(apps, 'apps/prefixes.js'))) as Module;
  for (const [name, mount] of Object.entries(mounts)) {
    for (const options of [{}, { basePath: '/garden' }]) {
      const { store, listener } = createListener(t, options);
      await createPlants(store, 5);
      const url = await listenUrl(t, createServer(await mount(listener)));
      const pages = await followLinks(url, '/garden/plants?limit=2');
      assert.deepEqual(
        pages.map(({ length }) => length),
        [2, 2, 1],
        name,
      );
      const document = (await (await fetch(`${url}/garden/openapi.json`)).json()) as { servers: unknown };
      assert.deepEqual(document.servers, [{ url: '/garden' }], name);
    }
  }
});
