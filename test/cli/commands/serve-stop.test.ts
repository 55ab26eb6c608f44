import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { issueToken } from '../../../src/tokens/issue.ts';
import { startServer } from '../../support/command-line.ts';
import type { RunningServer } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { parseRawAnswer, RawConnection } from '../../support/raw-http.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

const plant = '{"id":1,"name":"Basil"}';

interface Started {
  readonly server: RunningServer;
  readonly port: number;
  readonly authorization: string;
  readonly again: () => Promise<RunningServer>;
}

async function start(t: HasAfter, storage: string): Promise<Started> {
  const cwd = await temporaryFolder(t);
  const { token } = issueToken(join(cwd, 'tokens.json'), { user: 'ada' });
  const again = (): Promise<RunningServer> => startServer(t, ['--storage', storage, '--log', 'json'], { cwd });
  const server = await again();
  return { server, port: Number(new URL(server.url).port), authorization: `Bearer ${token}`, again };
}

/** A POST that the server has begun to read, and whose body is half sent. */
async function sendHalf(t: HasAfter, { port, authorization }: Started): Promise<RawConnection> {
  const connection = await RawConnection.open(t, port);
  const head = [
    'POST /plants HTTP/1.1',
    'Host: localhost',
    `Authorization: ${authorization}`,
    'Content-Type: application/json',
    `Content-Length: ${plant.length}`,
    // Its answer shows that the request is under way.
    'Expect: 100-continue',
  ];
  connection.send(`${head.join('\r\n')}\r\n\r\n`);
  await connection.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  connection.send(plant.slice(0, 10));
  return connection;
}

/** Sends a signal and waits until the server has seen it. `exit` is for the exit code. */
async function signal({ server }: Started, name: NodeJS.Signals): Promise<{ exit: Promise<number | null> }> {
  const exit = server.stop(name);
  await eventually(() => {
    assert.match(server.stderr(), new RegExp(`"${name}: stopping"`));
  });
  return { exit };
}

async function assertRefuses(port: number): Promise<void> {
  const [error] = (await once(connect(port, '127.0.0.1'), 'error')) as [NodeJS.ErrnoException];
  assert.equal(error.code, 'ECONNREFUSED');
}

async function names({ authorization }: Started, server: RunningServer): Promise<unknown> {
  const response = await fetch(`${server.url}/plants`, { headers: { authorization } });
  return response.json();
}

async function create({ server, authorization }: Started, id: number): Promise<number> {
  const headers = { authorization, 'content-type': 'application/json' };
  const body = JSON.stringify({ id, name: `plant ${id}` });
  return (await fetch(`${server.url}/plants`, { method: 'POST', headers, body })).status;
}

describe('stopping plant-store serve', { concurrency: 4 }, () => {
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    it(`finishes on ${name} what is under way, takes no more, and exits with 0`, async (t) => {
      const started = await start(t, 'sqlite:plants.db');
      const connection = await sendHalf(t, started);
      const { exit } = await signal(started, name);
      await assertRefuses(started.port);

      connection.send(plant.slice(10));
      const received = await connection.untilClosed();
      const { status, head, json } = parseRawAnswer(received.replace('HTTP/1.1 100 Continue\r\n\r\n', ''));
      assert.deepEqual([status, json], [200, { name: 'Basil' }]);
      assert.match(head, /^connection: close$/im);
      assert.equal(await exit, 0);
      assert.deepEqual(await names(started, await started.again()), [{ name: 'Basil' }]);
    });
  }

  it('ends connections that are idle', async (t) => {
    const started = await start(t, 'memory');
    const connection = await RawConnection.open(t, started.port);
    connection.send('GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await connection.until(/^connection: keep-alive\r\n/im);
    const { exit } = await signal(started, 'SIGTERM');
    await connection.untilClosed();
    assert.equal(await exit, 0);
  });

  it('exits with 0 within 10 seconds where a request never ends', async (t) => {
    const started = await start(t, 'memory');
    const connection = await sendHalf(t, started);
    const signalledAt = performance.now();
    const { exit } = await signal(started, 'SIGTERM');
    assert.equal(await exit, 0);
    assert.ok(performance.now() - signalledAt < 10_000);
    await connection.untilClosed();
  });

  for (const [second, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`exits with ${code} at once on ${second} as the second signal`, async (t) => {
      const started = await start(t, 'memory');
      await sendHalf(t, started);
      await signal(started, 'SIGINT');
      await sleep(150);
      const signalledAt = performance.now();
      assert.equal(await started.server.stop(second), code);
      assert.ok(performance.now() - signalledAt < 4000, 'long before the request would be cut off');
    });
  }

  it('takes two signals at once for one, since npm passes on what came from the terminal already', async (t) => {
    const started = await start(t, 'memory');
    const connection = await sendHalf(t, started);
    void started.server.stop('SIGTERM');
    const exit = started.server.stop('SIGINT');
    await eventually(() => {
      assert.match(started.server.stderr(), /: stopping"/);
    });
    connection.send(plant.slice(10));
    assert.match(await connection.untilClosed(), /\r\n\r\n\{"name":"Basil"\}$/);
    assert.equal(await exit, 0);
    assert.equal(started.server.stderr().split(': stopping"').length, 2);
  });
});

describe('restarting plant-store serve', { concurrency: 4 }, () => {
  for (const name of ['SIGKILL', 'SIGTERM'] as const) {
    it(`finds every plant that was acknowledged before ${name}`, async (t) => {
      const started = await start(t, 'sqlite:plants.db');
      const ids = Array.from({ length: 20 }, (_, id) => id);
      assert.deepEqual(
        await Promise.all(ids.map((id) => create(started, id))),
        ids.map(() => 200),
      );
      await started.server.stop(name);
      assert.deepEqual(
        await names(started, await started.again()),
        ids.map((id) => ({ name: `plant ${id}` })),
      );
    });
  }
});
