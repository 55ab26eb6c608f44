import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { listen, reachableUrl } from '../../../src/tools/cli/listen.ts';
import { occupyPort } from '../../support/listen.ts';
import { evalArgs, runSuccessfully } from '../../support/run-program.ts';
import { sourceUrl } from '../../support/sources.ts';

async function urlOf(t: TestContext, host: string, port = 0): Promise<string> {
  const server = createServer();
  t.after(() => server.close());
  return listen(server, { host, port });
}

describe('listen', () => {
  it('resolves with the URL, with brackets around an IPv6 address', async (t) => {
    assert.match(await urlOf(t, 'localhost'), /^http:\/\/localhost:[1-9]\d*$/);
    const url = await urlOf(t, '::1').catch(String);
    if (url.includes('not have the address')) t.diagnostic('NOT CHECKED: this machine has no IPv6');
    else assert.match(url, /^http:\/\/\[::1\]:[1-9]\d*$/);
  });

  it('says what to choose if it cannot listen on an address', async (t) => {
    const port = await occupyPort(t);
    for (const [host, onPort, message] of [
      ['127.0.0.1', port, `Port ${port} of 127.0.0.1 is in use. Choose another port with --port or PLANT_STORE_PORT.`],
      [
        '192.0.2.1',
        0,
        'This machine does not have the address 192.0.2.1. Choose another address with --host or PLANT_STORE_HOST.',
      ],
      [
        'nowhere.invalid',
        0,
        'The host name nowhere.invalid cannot be resolved. ' +
          'Choose another name or an address with --host or PLANT_STORE_HOST.',
      ],
    ] as const) {
      await assert.rejects(urlOf(t, host, onPort), { message });
    }
  });

  it('says to choose a port from 1024 if the user may not listen on the port', async (t) => {
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
    const message = 'This user may not listen on port 80. Choose a port from 1024 with --port or PLANT_STORE_PORT.';
    assert.equal(await runSuccessfully(process.execPath, evalArgs(code)), `${message}\n`);
  });
});

describe('reachableUrl', () => {
  it('replaces the address that stands for all addresses by localhost', () => {
    for (const [host, reachable] of [
      ['0.0.0.0', 'localhost'],
      ['[::]', 'localhost'],
      ['[::1]', '[::1]'],
      ['10.0.0.0', '10.0.0.0'],
    ] as const) {
      assert.equal(reachableUrl(`http://${host}:3000`), `http://${reachable}:3000`);
    }
  });
});
