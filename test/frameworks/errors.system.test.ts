import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { it } from 'node:test';
import { listenUrl } from '../support/listen.ts';
import { createListener } from '../support/service.ts';
import { apps, arePackagesInstalled } from './program.ts';

/** The exports of apps/errors.js. */
interface Module {
  readonly apps: Readonly<Record<string, (act: () => Promise<unknown>) => RequestListener | Promise<RequestListener>>>;
}

it('the error handlers of Express and Fastify respond with the status of a PlantStoreError', async (t) => {
  if (!arePackagesInstalled(t, apps)) return;
  const { apps: mounts } = (await import(join(apps, 'apps/errors.js'))) as Module;
  const { store } = createListener(t);
  for (const [name, mount] of Object.entries(mounts)) {
    const app = await mount(() => store.createPlant('ada', { id: 1.5, name: 'Fern' }));
    const response = await fetch(await listenUrl(t, createServer(app)));
    assert.equal(response.status, 400, name);
  }
});
