import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { openStorage, parseStorage } from '../../../../src/cli/storage.ts';
import { eventually } from '../../../support/eventually.ts';
import { occupyPort } from '../../../support/listen.ts';
import { PostgresCluster } from '../../../support/postgres.ts';
import type { HasAfter } from '../../../support/temporary-folder.ts';
import { adminUrlOf, startTokenServer } from '../../../support/token-server.ts';
import type { TokenServer } from '../../../support/token-server.ts';
import { everything } from '../../../support/writes.ts';

const cluster = await PostgresCluster.start({ checksPassword: true });
after(() => cluster.remove());

const start = (t: HasAfter, storage: string): Promise<TokenServer> => startTokenServer(t, ['--storage', storage]);

/** Returns the messages in the log, without messages about requests. */
function messages({ log }: TokenServer): unknown[] {
  return log().flatMap(({ message }) => (message === 'request' ? [] : [message]));
}

/** Waits until the log shows the reason, although no client has sent a request. */
async function assertReported(started: TokenServer, reason: RegExp): Promise<void> {
  await eventually(() => {
    const found = messages(started).find((message) => String(message).includes('The storage does not work'));
    assert.match(String(found), reason);
  }, 20_000);
}

describe('plant-store serve over PostgreSQL', { concurrency: 4 }, () => {
  it('logs without a request why the storage does not work, but no password', async (t) => {
    const url = await cluster.makeDatabase();
    const storage = await openStorage(parseStorage({ text: url, source: '--storage' }, ['postgres']));
    await storage.list('ada', everything);
    await storage.close();
    await cluster.queryAt(url, "CREATE ROLE reader LOGIN PASSWORD 'sesame'; GRANT SELECT ON plants TO reader");
    for (const [login, reason] of [
      ['postgres:wrong%20horse', /password authentication failed for user "postgres"/],
      ['reader:sesame', /permission denied for table plants/],
    ] as const) {
      const started = await start(t, url.replace('postgres:sesame', login));
      await assertReported(started, reason);
      assert.equal((await fetch(`${started.server.url}/openapi.json`)).status, 200);
      assert.equal(await started.server.stop(), 0);
      assert.doesNotMatch(started.server.stdout() + started.server.stderr(), /sesame|wrong horse/);
    }
  });

  it('keeps running while the database is down, and logs the recovery when /ready notices it', async (t) => {
    const late = await PostgresCluster.start();
    t.after(() => late.remove());
    await late.stop();
    // If the name has several addresses, the error is an AggregateError without a message.
    const url = late.url().replace('127.0.0.1', 'localhost');
    const started = await startTokenServer(t, ['--storage', url, '--admin-port', '0']);
    const { server, call } = started;
    await assertReported(started, /ECONNREFUSED.*:\d/);
    const ready = `${await adminUrlOf(server)}/ready`;
    const becomes = (status: number): Promise<void> =>
      eventually(async () => {
        assert.equal((await fetch(ready)).status, status);
        assert.equal((await call('GET', '/plants')).status, status);
      }, 20_000);
    await becomes(503);
    await late.restart();
    await becomes(200);
    await late.stop();
    await becomes(503);
    await late.restart();
    await becomes(200);
    const recoveries = messages(started).filter((message) => message === 'The storage works again.');
    assert.equal(recoveries.length, 2);
    assert.equal(await server.stop(), 0);
    assert.doesNotMatch(server.stdout() + server.stderr(), /sesame/);
  });

  it('stops immediately while the database does not respond, and logs only that it starts and stops', async (t) => {
    const started = await start(t, `postgres://ada:sesame@127.0.0.1:${await occupyPort(t)}/plants`);
    assert.equal(await started.server.stop(), 0);
    assert.deepEqual(messages(started), ['listening', 'SIGTERM: stopping', 'stopped']);
  });
});
