import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { runCommand, startServer } from '../../../support/command-line.ts';
import { eventually } from '../../../support/eventually.ts';
import { occupyPort } from '../../../support/listen.ts';
import { PostgresCluster } from '../../../support/postgres.ts';
import type { ServerProcess } from '../../../support/server-process.ts';
import { createAll, rowOfPlants } from '../../../support/stored-plants.ts';
import { makeReadOnly } from '../../../support/system-fault.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import type { HasAfter } from '../../../support/temporary-folder.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start({ checksPassword: true });
});
after(() => cluster.remove());

/** Starts a server to which no client sends a request. */
async function startUnused(t: HasAfter, storage: string, cwd?: string): Promise<ServerProcess> {
  const args = ['--storage', storage, '--log', 'json'];
  return startServer(t, args, { cwd: cwd ?? (await temporaryFolder(t)) });
}

function messages(server: ServerProcess): string[] {
  return server
    .stderr()
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { message: string }).message);
}

/** Waits until the log shows two failed tries for the same reason, the second with a longer wait. */
async function assertReported(server: ServerProcess, reason: RegExp): Promise<void> {
  await eventually(() => {
    assert.ok(messages(server).length >= 2, server.stderr());
  }, 20_000);
  for (const [index, message] of messages(server).slice(0, 2).entries()) {
    assert.match(message, /^The storage does not work: /);
    assert.match(message, reason);
    assert.ok(message.endsWith(` (next try in ${index + 1} s)`), message);
  }
  assert.doesNotMatch(server.stdout() + server.stderr(), /sesame|wrong horse/);
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
  it('logs a wrong password, without the password', async (t) => {
    const server = await startUnused(t, cluster.url().replace('sesame', 'wrong%20horse'));
    await assertReported(server, /password authentication failed for user "postgres"/);
    assert.equal((await fetch(`${server.url}/openapi.json`)).status, 200);
    assert.equal(await server.stop(), 0);
  });

  it('logs a database that does not exist', async (t) => {
    await assertReported(await startUnused(t, cluster.url('nowhere')), /database "nowhere" does not exist/);
  });

  it('logs a host that does not exist', async (t) => {
    const url = cluster.url().replace('127.0.0.1', 'nowhere.invalid');
    await assertReported(await startUnused(t, url), /nowhere\.invalid/);
  });

  it('logs every address of a name at which no database listens', async (t) => {
    const server = await startUnused(t, 'postgres://ada:sesame@localhost:1/plants');
    await assertReported(server, /ECONNREFUSED.*:1\b/);
  });

  it('logs a table that is not a table of plants, with the cause', async (t) => {
    const url = await cluster.makeDatabase();
    await cluster.queryAt(url, 'CREATE TABLE plants (id text)');
    await assertReported(await startUnused(t, url), /The storage holds no plants\..*lacks a column/);
  });

  it('logs a role without the right to write', async (t) => {
    const url = await cluster.makeDatabase();
    await startUnused(t, url);
    await cluster.queryAt(url, "CREATE ROLE reader LOGIN PASSWORD 'sesame'");
    await eventually(() => cluster.queryAt(url, 'GRANT SELECT ON plants TO reader'));
    const server = await startUnused(t, url.replace('postgres:sesame', 'reader:sesame'));
    await assertReported(server, /permission denied for table plants/);
  });

  it('logs when a database that starts later works, and nothing after that', async (t) => {
    const late = await PostgresCluster.start();
    t.after(() => late.remove());
    await late.stop();
    const server = await startUnused(t, late.url());
    await assertReported(server, /ECONNREFUSED/);
    await late.restart();
    await eventually(() => {
      assert.equal(messages(server).at(-1), 'The storage works now.');
    }, 20_000);
    await eventually(async () => {
      assert.equal((await late.query('SELECT FROM plants')).length, 0);
    });
    assert.equal(await server.stop(), 0);
    assert.deepEqual(messages(server).slice(-2), ['The storage works now.', 'SIGTERM: stopping']);
  });

  it('logs only a new table while the storage works', async (t) => {
    const cwd = await temporaryFolder(t);
    const url = await cluster.makeDatabase();
    for (const storage of ['memory', 'sqlite:plants.db', url]) {
      const server = await startUnused(t, storage, cwd);
      if (storage === url) await eventually(() => cluster.queryAt(url, 'SELECT FROM plants'));
      assert.equal(await server.stop(), 0);
      const news = storage === url ? ['Plants are stored in the new table "plants".'] : [];
      assert.deepEqual(messages(server), [...news, 'SIGTERM: stopping']);
    }
  });

  it('does not delay the stop of a server while the database does not respond', async (t) => {
    const server = await startUnused(t, `postgres://ada:sesame@127.0.0.1:${await occupyPort(t)}/plants`);
    assert.equal(await server.stop(), 0);
    assert.deepEqual(messages(server), ['SIGTERM: stopping']);
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
    const { code, stdout, stderr } = await runCommand(args, { cwd: await temporaryFolder(t) });
    assert.deepEqual([code, stdout], [1, '']);
    const sentence = `${readOnly} cannot be opened: it and its folder must be readable and writable.`;
    assert.equal(stderr, `plant-store: ${sentence} (unable to open database file)\n`);
  });
});
