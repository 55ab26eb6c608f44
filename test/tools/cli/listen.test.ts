import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { listen, reachableUrl } from '../../../src/tools/cli/listen.ts';
import { evalArgs, runSuccessfully } from '../../support/run-program.ts';
import { sourceUrl } from '../../support/sources.ts';

describe('listen', () => {
  for (const [host, inUrl, reachable] of [
    ['0.0.0.0', '0.0.0.0', 'localhost'],
    ['::', '[::]', 'localhost'],
    ['::1', '[::1]', '[::1]'],
  ] as const) {
    it(`returns a URL with ${host}, which reachableUrl converts to a URL with ${reachable}`, async (t) => {
      const server = createServer((_, response) => response.end('ok'));
      t.after(() => server.close());
      const url = await listen(server, { host, port: 0 }).catch((error: unknown) => error);
      if (typeof url !== 'string') {
        t.skip(`this machine does not have ${host}`);
        return;
      }
      const { port } = server.address() as AddressInfo;
      assert.deepEqual([url, reachableUrl(url)], [`http://${inUrl}:${port}`, `http://${reachable}:${port}`]);
      assert.equal(await (await fetch(reachableUrl(url))).text(), 'ok');
    });
  }

  it('rejects with advice to choose a port from 1024 if the user is not allowed to listen on the port', async (t) => {
    const limit = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
    if (process.getuid?.() !== 0 || Number(readFileSync(limit, 'utf8')) <= 80) {
      console.log('NOT RUN: the test of a privileged port needs root and a system with privileged ports.');
      t.skip('this process is not root, or the system has no privileged ports');
      return;
    }
    const code = `
      process.setgid(65534);
      process.setuid(65534);
      const { createServer } = await import('node:http');
      const { listen } = await import('${sourceUrl('tools/cli/listen.ts')}');
      await listen(createServer(), { host: '127.0.0.1', port: 80 }).catch((error) => console.log(error.message));`;
    assert.match(await runSuccessfully(process.execPath, evalArgs(code)), /from 1024/);
  });
});
