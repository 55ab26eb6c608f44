import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, eventuallyEqual } from '../../../support/eventually.ts';
import { parseRawAnswers, post, RawConnection } from '../../../support/raw-http.ts';
import type { HasAfter } from '../../../support/temporary-folder.ts';
import { adminUrlOf, startTokenServer } from '../../../support/token-server.ts';
import type { TokenServer } from '../../../support/token-server.ts';

const plant = '{"id":1,"name":"Basil"}';

/** Sends half the body of a POST request after the server has started to read the request. */
async function sendHalf(t: HasAfter, { server, token }: TokenServer): Promise<RawConnection> {
  const header = post('', plant.length).replace('Bearer ada', `Bearer ${token}\r\nExpect: 100-continue`);
  const connection = await RawConnection.open(t, server.port, header);
  await connection.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  connection.send(plant.slice(0, 10));
  return connection;
}

describe('plant-store serve, on a signal', { concurrency: 4 }, () => {
  it('serve on SIGTERM › finishes requests in progress, and refuses new connections', async (t) => {
    const started = await startTokenServer(t, ['--drain-delay', '1']);
    const connection = await sendHalf(t, started);
    // Without a terminal, SIGHUP is ignored. SIGUSR1 would open the debugger of Node.js.
    for (const ignored of ['SIGHUP', 'SIGUSR1'] as const) void started.server.stop(ignored);
    await sleep(200);
    assert.equal((await started.create(2)).status, 200);
    // npm forwards signals that the terminal also sends, so two simultaneous signals count as one. They arrive
    // together, because a stopped process receives them only when it continues.
    void started.server.stop('SIGSTOP');
    const exit = started.server.stop('SIGTERM');
    void started.server.stop('SIGINT');
    void started.server.stop('SIGCONT');
    await eventually(async () => {
      const refused = await fetch(started.server.url).catch((error: unknown) => error);
      assert.match(String((refused as Error).cause), /ECONNREFUSED/);
    });
    connection.send(plant.slice(10));
    const [, answer] = parseRawAnswers(await connection.untilClosed());
    assert.deepEqual([answer?.status, answer?.json], [200, { name: 'Basil' }]);
    assert.equal(answer?.headers.get('connection'), 'close');
    assert.equal(await exit, 0);
    assert.equal(started.log().at(-1)?.['message'], 'stopped');
    const again = await startTokenServer(t, [], { folder: started });
    assert.deepEqual((await again.call('GET', '/plants')).json, [{ name: 'Basil' }, { name: 'plant 2' }]);
    // The log names a new database and an existing one in the same way.
    for (const { server } of [started, again]) {
      assert.equal(await server.printed(/"storage":"([^"]*)"/), join(started.cwd, 'plants.db'));
    }
  });

  it('serve on SIGTERM › exits with 0 if the signal is forwarded while the server ends', async (t) => {
    const { server } = await startTokenServer(t, ['--storage', 'memory']);
    const exit = server.stop();
    for (const endMs = performance.now() + 50; performance.now() < endMs;) {
      void server.stop();
      await sleep(1);
    }
    assert.equal(await exit, 0);
  });

  it('serve --drain-delay › accepts connections until a second signal, while /ready returns 503', async (t) => {
    const flags = ['--storage', 'memory', '--admin-port', '0', '--drain-delay', '3600'];
    const { server, create, log } = await startTokenServer(t, flags);
    const adminUrl = await adminUrlOf(server);
    const exit = server.stop('SIGINT');
    await eventuallyEqual(() => log().at(-1)?.['message'], 'SIGINT: stopping');
    assert.equal((await fetch(`${adminUrl}/ready`)).status, 503);
    assert.equal((await fetch(`${adminUrl}/live`)).status, 200);
    // Without a terminal, SIGHUP is ignored, even if it would arrive as a second signal.
    await sleep(200);
    void server.stop('SIGHUP');
    assert.equal((await create(1)).status, 200);
    // Signals that arrive soon after the first have no effect.
    await eventually(() => {
      void server.stop();
      assert.ok(!server.isRunning());
    });
    assert.equal(await exit, null, 'ended by the signal');
  });

  it('serve on SIGTERM › cuts off a request that does not end, and logs this', async (t) => {
    const started = await startTokenServer(t, ['--storage', 'memory']);
    const connection = await sendHalf(t, started);
    assert.equal(await started.server.stop(), 0);
    await connection.untilClosed();
    const message = '1 connection cut off, because requests did not end in time.';
    assert.ok(started.log().some((entry) => entry['level'] === 'error' && entry['message'] === message));
  });
});
