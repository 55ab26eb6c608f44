import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../support/eventually.ts';
import { parseRawAnswer } from '../../../support/raw-http.ts';
import type { RawConnection } from '../../../support/raw-http.ts';
import type { HasAfter } from '../../../support/temporary-folder.ts';
import { adminUrlOf, beginCreate, startTokenServer } from '../../../support/token-server.ts';
import type { TokenFolder, TokenServer } from '../../../support/token-server.ts';

const plant = '{"id":1,"name":"Basil"}';

const start = (t: HasAfter, storage: string, folder?: TokenFolder): Promise<TokenServer> =>
  startTokenServer(t, ['--storage', storage, '--log', 'json'], folder && { folder });

/** Sends half the body of a POST request after the server has started to read the request. */
async function sendHalf(t: HasAfter, started: TokenServer): Promise<RawConnection> {
  const connection = await beginCreate(t, started, plant);
  connection.send(plant.slice(0, 10));
  return connection;
}

/** Sends a signal and waits until the server has logged it. `exit` resolves with the exit code. */
async function signal({ server }: TokenServer, name: NodeJS.Signals): Promise<{ exit: Promise<number | null> }> {
  const exit = server.stop(name);
  await eventually(() => {
    assert.match(server.stderr(), new RegExp(`"${name}: stopping"`));
  });
  return { exit };
}

describe('plant-store serve, on a signal', { concurrency: 4 }, () => {
  it('finishes requests in progress, refuses new connections, and exits with 0', async (t) => {
    const started = await start(t, 'sqlite:plants.db');
    const connection = await sendHalf(t, started);
    // npm forwards signals that the terminal also sends, so two simultaneous signals count as one.
    const exit = started.server.stop('SIGTERM');
    void started.server.stop('SIGINT');
    await eventually(() => {
      assert.match(started.server.stderr(), /: stopping"/);
    });
    // The server logs the signal shortly before it closes its port.
    await eventually(async () => {
      const refused = await fetch(started.server.url).catch((error: unknown) => error);
      assert.match(String((refused as Error).cause), /ECONNREFUSED/);
    });
    connection.send(plant.slice(10));
    const received = await connection.untilClosed();
    const { status, head, json } = parseRawAnswer(received.replace('HTTP/1.1 100 Continue\r\n\r\n', ''));
    assert.deepEqual([status, json], [200, { name: 'Basil' }]);
    assert.match(head, /^connection: close$/im);
    assert.equal(await exit, 0);
    const again = await start(t, 'sqlite:plants.db', started);
    assert.deepEqual((await again.call('GET', '/plants')).json, [{ name: 'Basil' }]);
  });

  it('ignores SIGHUP without a terminal, and SIGUSR1, which would open the debugger of Node.js', async (t) => {
    const started = await start(t, 'memory');
    void started.server.stop('SIGHUP');
    void started.server.stop('SIGUSR1');
    await sleep(500);
    assert.equal((await started.create(1)).status, 200);
    assert.equal(await started.server.stop(), 0);
    assert.equal(started.log().at(-1)?.['message'], 'stopped');
  });

  it('with --drain-delay, accepts connections while /ready returns 503 and /live 200', async (t) => {
    const started = await startTokenServer(t, ['--storage', 'memory', '--admin-port', '0', '--drain-delay', '2']);
    const adminUrl = await adminUrlOf(started.server);
    const { exit } = await signal(started, 'SIGTERM');
    assert.equal((await fetch(`${adminUrl}/ready`)).status, 503);
    assert.equal((await fetch(`${adminUrl}/live`)).status, 200);
    assert.equal((await started.create(1)).status, 200);
    assert.equal(await exit, 0);
  });

  it('exits with 0 within 10 seconds if a request never ends, and logs that it was cut off', async (t) => {
    const started = await start(t, 'memory');
    const connection = await sendHalf(t, started);
    const signaledAt = performance.now();
    const { exit } = await signal(started, 'SIGTERM');
    assert.equal(await exit, 0);
    assert.ok(performance.now() - signaledAt < 10_000);
    await connection.untilClosed();
    const { level, message } = started.log().find((entry) => String(entry['message']).startsWith('1 connection')) ?? {};
    assert.deepEqual([level, message], ['error', '1 connection cut off, because requests did not end in time.']);
  });

  it('ends immediately on the second signal', async (t) => {
    const started = await start(t, 'memory');
    await sendHalf(t, started);
    await signal(started, 'SIGINT');
    await sleep(150);
    const signaledAt = performance.now();
    assert.equal(await started.server.stop('SIGTERM'), null);
    assert.ok(performance.now() - signaledAt < 4000, 'long before the end of the grace period');
  });
});
