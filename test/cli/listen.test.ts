import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { listen, reachableUrl } from '../../src/cli/listen.ts';

describe('listen', () => {
  for (const [host, inUrl, reachable] of [
    ['0.0.0.0', '0.0.0.0', 'localhost'],
    ['::', '[::]', 'localhost'],
    ['::1', '[::1]', '[::1]'],
  ] as const) {
    it(`returns a URL with ${host}, which reachableUrl converts to a URL with ${reachable}`, async (t) => {
      const server = createServer((_, response) => response.end('ok'));
      t.after(() => server.close());
      const url = await listen(server, { host, port: 0, flags: '--host' }).catch((error: unknown) => error);
      if (typeof url !== 'string') {
        t.skip(`this machine does not have ${host}`);
        return;
      }
      const { port } = server.address() as AddressInfo;
      assert.deepEqual([url, reachableUrl(url)], [`http://${inUrl}:${port}`, `http://${reachable}:${port}`]);
      assert.equal(await (await fetch(reachableUrl(url))).text(), 'ok');
    });
  }
});
