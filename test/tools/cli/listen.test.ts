import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { listen, reachableUrl } from '../../../src/tools/cli/listen.ts';
import { occupyPort } from '../../support/listen.ts';
import { evalArgs, runSuccessfully } from '../../support/run-program.ts';

function makeServer(t: TestContext): Server {
  const server = createServer();
  t.after(() => {
    server.close();
  });
  return server;
}

describe('listen', () => {
  it('resolves with the URL, with brackets around an IPv6 address', async (t) => {
    assert.match(await listen(makeServer(t), { host: 'localhost', port: 0 }), /^http:\/\/localhost:[1-9]\d*$/);
    const url = await listen(makeServer(t), { host: '::1', port: 0 }).catch((error: unknown) => String(error));
    if (url.includes('not have the address')) t.diagnostic('NOT CHECKED: this machine has no IPv6');
    else assert.match(url, /^http:\/\/\[::1\]:[1-9]\d*$/);
  });

  it('says to choose another port if the port is in use', async (t) => {
    const port = await occupyPort(t);
    const message = `Port ${port} of 127.0.0.1 is in use. Choose another port with --port or PLANT_STORE_PORT.`;
    await assert.rejects(listen(makeServer(t), { host: '127.0.0.1', port }), { message });
  });

  it('says to choose another address if this machine does not have the address', async (t) => {
    const message =
      'This machine does not have the address 192.0.2.1. Choose another address with --host or PLANT_STORE_HOST.';
    await assert.rejects(listen(makeServer(t), { host: '192.0.2.1', port: 0 }), { message });
  });

  it('says to choose another name if the name cannot be resolved', async (t) => {
    const message =
      'The host name nowhere.invalid cannot be resolved. Choose another name or an address with --host or PLANT_STORE_HOST.';
    await assert.rejects(listen(makeServer(t), { host: 'nowhere.invalid', port: 0 }), { message });
  });

  it('says to choose a port from 1024 if the user may not listen on the port', async (t) => {
    const limit = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
    if (process.getuid?.() !== 0 || Number(readFileSync(limit, 'utf8')) <= 80) {
      console.log('NOT RUN: the test of a privileged port needs root and a system with privileged ports.');
      t.skip('this process is not root, or the system has no privileged ports');
      return;
    }
    const source = new URL('../../../src/tools/cli/listen.ts', import.meta.url).href;
    const code = `
      process.setgid(65534);
      process.setuid(65534);
      const { createServer } = await import('node:http');
      const { listen } = await import('${source}');
      await listen(createServer(), { host: '127.0.0.1', port: 80 }).catch((error) => console.log(error.message));`;
    const stdout = await runSuccessfully(process.execPath, evalArgs(code));
    assert.equal(
      stdout,
      'This user may not listen on port 80. Choose a port from 1024 with --port or PLANT_STORE_PORT.\n',
    );
  });
});

describe('reachableUrl', () => {
  it('replaces the address that stands for all addresses by localhost', () => {
    assert.equal(reachableUrl('http://0.0.0.0:3000'), 'http://localhost:3000');
    assert.equal(reachableUrl('http://[::]:3000'), 'http://localhost:3000');
    assert.equal(reachableUrl('http://[::1]:3000'), 'http://[::1]:3000');
    assert.equal(reachableUrl('http://10.0.0.0:3000'), 'http://10.0.0.0:3000');
  });
});
