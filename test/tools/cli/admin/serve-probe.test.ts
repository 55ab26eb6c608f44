import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { openStorage } from '../../../../src/tools/cli/storage.ts';
import { callCommand } from '../../../support/call-command.ts';
import { eventually } from '../../../support/eventually.ts';
import { occupyPort } from '../../../support/listen.ts';
import { PostgresCluster } from '../../../support/postgres.ts';
import { createAll, rowOfPlants } from '../../../support/stored-plants.ts';
import { makeReadOnly } from '../../../support/system-fault.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import type { HasAfter } from '../../../support/temporary-folder.ts';
import { startTokenServer } from '../../../support/token-server.ts';
import type { TokenServer } from '../../../support/token-server.ts';
import { everything } from '../../../support/writes.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start({ checksPassword: true });
});
after(() => cluster.remove());

/** Starts a server to which no client sends a request. */
const startUnused = (t: HasAfter, storage: string): Promise<TokenServer> =>
  startTokenServer(t, ['--storage', storage, '--log', 'json']);

const messages = ({ log }: TokenServer): unknown[] => log().map(({ message }) => message);

/** Waits until the log shows two failed tries for the same reason, the second with a longer wait. */
async function assertReported(started: TokenServer, reason: RegExp): Promise<void> {
  await eventually(() => {
    assert.ok(messages(started).length >= 2, started.server.stderr());
  }, 20_000);
  for (const [index, message] of messages(started).slice(0, 2).map(String).entries()) {
    assert.match(message, /^The storage does not work: /);
    assert.match(message, reason);
    assert.ok(message.endsWith(` (next try in ${index + 1} s)`), message);
  }
  assert.doesNotMatch(started.server.stdout() + started.server.stderr(), /sesame|wrong horse/);
}

/** Makes a file with one plant, and makes it or its folder read-only. Skips the test if that is impossible. */
async function makeStore(t: TestContext, what: 'file' | 'folder'): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-'));
  const file = join(folder, 'plants.db');
  await createAll(file, rowOfPlants('ada', 1));
  const undo = await makeReadOnly(what === 'file' ? file : folder);
  t.after(async () => {
    await undo?.();
    await rm(folder, { recursive: true });
  });
  if (undo !== undefined) return file;
  t.skip('cannot mount as root here');
  return undefined;
}

describe('storage probe of plant-store serve', { concurrency: 4 }, () => {
  const faults: [what: string, storage: () => string | Promise<string>, reason: RegExp][] = [
    [
      'a wrong password, without the password',
      () => cluster.url().replace('sesame', 'wrong%20horse'),
      /password authentication failed for user "postgres"/,
    ],
    ['a database that does not exist', () => cluster.url('nowhere'), /database "nowhere" does not exist/],
    ['a host that does not exist', () => cluster.url().replace('127.0.0.1', 'nowhere.invalid'), /nowhere\.invalid/],
    [
      'every address of a name at which no database listens',
      () => 'postgres://ada:sesame@localhost:1/plants',
      /ECONNREFUSED.*:1\b/,
    ],
    [
      'a table that is not a table of plants, with the cause',
      async () => {
        const url = await cluster.makeDatabase();
        await cluster.queryAt(url, 'CREATE TABLE plants (id text)');
        return url;
      },
      /The storage holds no plants\. "plants" has .* and must have /,
    ],
    [
      'a role without the right to write',
      async () => {
        const url = await cluster.makeDatabase();
        const storage = await openStorage({ text: url, source: '--storage' });
        await storage.list('ada', everything);
        await storage.close();
        await cluster.queryAt(url, "CREATE ROLE reader LOGIN PASSWORD 'sesame'; GRANT SELECT ON plants TO reader");
        return url.replace('postgres:sesame', 'reader:sesame');
      },
      /permission denied for table plants/,
    ],
  ];
  for (const [what, storage, reason] of faults) {
    it(`logs ${what}`, async (t) => {
      const started = await startUnused(t, await storage());
      await assertReported(started, reason);
      assert.equal((await fetch(`${started.server.url}/openapi.json`)).status, 200);
      assert.equal(await started.server.stop(), 0);
    });
  }

  it('logs when a database that starts later works, and nothing after that', async (t) => {
    const late = await PostgresCluster.start();
    t.after(() => late.remove());
    await late.stop();
    const started = await startUnused(t, late.url());
    await assertReported(started, /ECONNREFUSED/);
    await late.restart();
    await eventually(() => {
      assert.equal(messages(started).at(-1), 'The storage works now.');
    }, 20_000);
    assert.equal((await late.query('SELECT FROM plants')).length, 0);
    assert.equal(await started.server.stop(), 0);
    assert.deepEqual(messages(started).slice(-2), ['The storage works now.', 'SIGTERM: stopping']);
  });

  it('logs only a new table while the storage works', async (t) => {
    const url = await cluster.makeDatabase();
    for (const storage of ['memory', 'sqlite:plants.db', url]) {
      const started = await startUnused(t, storage);
      if (storage === url) await eventually(() => cluster.queryAt(url, 'SELECT FROM plants'));
      assert.equal(await started.server.stop(), 0);
      const news = storage === url ? ['Plants are stored in the new table "plants".'] : [];
      assert.deepEqual(messages(started), [...news, 'SIGTERM: stopping']);
    }
  });

  it('does not delay the stop of a server while the database does not respond', async (t) => {
    const started = await startUnused(t, `postgres://ada:sesame@127.0.0.1:${await occupyPort(t)}/plants`);
    assert.equal(await started.server.stop(), 0);
    assert.deepEqual(messages(started), ['SIGTERM: stopping']);
  });

  it('logs an SQLite file that is read-only, and changes nothing', async (t) => {
    const readOnly = await makeStore(t, 'file');
    if (readOnly === undefined) return;
    const { size, mtimeMs } = await stat(readOnly);
    await assertReported(await startUnused(t, `sqlite:${readOnly}`), /attempt to write a readonly database/);
    const after = await stat(readOnly);
    assert.deepEqual([after.size, after.mtimeMs], [size, mtimeMs]);
  });
});

describe('plant-store serve', () => {
  it('fails with one sentence that names the file if the folder is read-only', async (t) => {
    const readOnly = await makeStore(t, 'folder');
    if (readOnly === undefined) return;
    const args = ['serve', '--port', '0', '--storage', `sqlite:${readOnly}`];
    const { code, stdout, stderr } = await callCommand(args, { cwd: await temporaryFolder(t) });
    assert.deepEqual([code, stdout], [1, '']);
    const sentence = `${readOnly} cannot be opened: it and its folder must be readable and writable.`;
    assert.equal(stderr, `plant-store: ${sentence} (unable to open database file)\n`);
  });
});
