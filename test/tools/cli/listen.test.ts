import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { reachableUrl } from '../../../src/tools/cli/listen.ts';
import { evalArgs, runSuccessfully } from '../../support/run-program.ts';
import { sourceUrl } from '../../support/sources.ts';

describe('listen', () => {
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
