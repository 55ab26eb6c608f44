import assert from 'node:assert/strict';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../../src/cli/command.ts';
import type { Setting } from '../../src/cli/command.ts';
import { openStorage, storageSetting } from '../../src/cli/open-storage.ts';
import { issueToken } from '../../src/tokens/issue.ts';
import { runCommand, startServer } from '../support/command-line.ts';
import type { RunningServer } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { PostgresCluster } from '../support/postgres.ts';
import { runScript, tsx } from '../support/run-script.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

const flag = (text: string): Setting => ({ text, source: '--storage' });

/** A folder with a tokens file, and the token of the user ada. */
async function folderWithToken(t: HasAfter): Promise<{ cwd: string; token: string }> {
  const cwd = await temporaryFolder(t);
  return { cwd, token: issueToken(join(cwd, 'tokens.json'), { user: 'ada' }).token };
}

async function call(server: RunningServer, token: string, body?: string): Promise<{ status: number; json: unknown }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${server.url}/plants`, {
    headers,
    ...(body !== undefined && { method: 'POST', body }),
  });
  return { status: response.status, json: await response.json() };
}

async function connections(database: string): Promise<number> {
  return (await cluster.query('SELECT FROM pg_stat_activity WHERE datname = $1', [database])).length;
}

const nameOf = (url: string): string => new URL(url).pathname.slice(1);

describe('openStorage on a connection string', () => {
  it('keeps plants in PostgreSQL, and closes its connections with the storage', async () => {
    const url = await cluster.makeDatabase();
    const storage = await openStorage(flag(url.replace('postgres:', 'postgresql:')));
    assert.equal(await connections(nameOf(url)), 0, 'It connects to nothing before it is used');
    assert.deepEqual(await storage.commit([{ kind: 'create', user: 'ada', plant: { id: 1n, name: 'Fern' } }]), [true]);
    assert.equal(await connections(nameOf(url)), 1);
    await storage.close();
    await storage.close();
    await eventually(async () => {
      assert.equal(await connections(nameOf(url)), 0);
    });
  });

  it('opens as many connections as max says, and no more', async (t) => {
    const url = await cluster.makeDatabase();
    const storage = await openStorage(flag(`${url}?max=2&application_name=garden`));
    t.after(() => storage.close());
    await Promise.all(Array.from({ length: 20 }, () => storage.list('ada', { after: undefined, limit: 1 })));
    const named = await cluster.query("SELECT FROM pg_stat_activity WHERE application_name = 'garden'");
    assert.equal(named.length, 2);
  });

  it('keeps plants in the schema and the table of the connection string, and tells pg nothing of them', async (t) => {
    const url = await cluster.makeDatabase();
    const storage = await openStorage(flag(`${url}?schema=my%20garden&application_name=beds&table=the+plants`));
    t.after(() => storage.close());
    assert.deepEqual(await storage.commit([{ kind: 'create', user: 'ada', plant: { id: 1n, name: 'Fern' } }]), [true]);
    assert.deepEqual(await cluster.queryAt(url, 'SELECT name FROM "my garden"."the plants"'), [{ name: 'Fern' }]);
    const named = await cluster.query("SELECT FROM pg_stat_activity WHERE application_name = 'beds'");
    assert.equal(named.length, 1);
  });

  it('accepts each parameter that pg acts on', async (t) => {
    const url = await cluster.makeDatabase();
    const server = new URL(url);
    const settings = {
      user: 'postgres',
      password: 'sesame',
      host: server.hostname,
      port: server.port,
      ssl: '0',
      sslmode: 'disable',
      uselibpqcompat: 'true',
      sslnegotiation: 'postgres',
      application_name: 'all',
      fallback_application_name: 'none',
      options: '-c work_mem=1MB',
      statement_timeout: '1000',
      lock_timeout: '2000',
      query_timeout: '3000',
      idle_in_transaction_session_timeout: '4000',
    };
    const storage = await openStorage(flag(`postgres:///${nameOf(url)}?${new URLSearchParams(settings).toString()}`));
    t.after(() => storage.close());
    assert.deepEqual(await storage.list('ada', { after: undefined, limit: 1 }), []);
  });

  it('outlives connections that are lost while nothing is under way', async (t) => {
    const url = await cluster.makeDatabase();
    const storage = await openStorage(flag(url));
    t.after(() => storage.close());
    await storage.list('ada', { after: undefined, limit: 1 });
    await cluster.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [nameOf(url)]);
    await eventually(async () => {
      assert.deepEqual(await storage.list('ada', { after: undefined, limit: 1 }), []);
    });
  });

  const wrong: [string, RegExp][] = [
    [
      'postgres://ada:sesame@localhost:port/plants',
      /^--storage is not a connection string that pg accepts: Invalid URL\.$/,
    ],
    ['postgres://ada:sesame@localhost/plants?max=many', /^max in --storage must be 1 to 9999\.$/],
    ['postgres://ada:sesame@localhost/plants?max=0', /^max in --storage must be 1 to 9999\.$/],
    ['postgres://ada:sesame@localhost/plants?max=', /^max in --storage must be 1 to 9999\.$/],
    ['postgres://ada:sesame@localhost/plants?max=5&max=6', /^max must not be given twice in --storage\.$/],
    [
      'postgres://ada:sesame@localhost/plants?max=5&pool=5',
      /^--storage has the parameter 'pool' that is not one of max, schema, table, user, /,
    ],
    ['postgres://ada:sesame@localhost/plants?connect_timeout=5', /the parameter 'connect_timeout' that is not one of/],
    ['postgres://ada:sesame@localhost/plants?schema=', /^schema in --storage must be a name of 1 to 63 bytes\.$/],
    [
      `postgres://ada:sesame@localhost/plants?table=${'x'.repeat(64)}`,
      /^table in --storage must be a name of 1 to 63 bytes\.$/,
    ],
    ['postgres://ada:1?sesame@localhost/plants', /^--storage has a parameter that is not one of/],
    ['postgres://ada:1?x&sesame=@localhost/plants', /^--storage has a parameter that is not one of/],
    [
      'postgres://ada:sesame@localhost/plants?sslrootcert=none.pem',
      /^--storage is not a connection string that pg accepts: .*none\.pem/,
    ],
  ];
  for (const [text, message] of wrong) {
    it(`refuses ${text} in one sentence without the password`, async () => {
      await assert.rejects(openStorage(flag(text)), (error) => {
        assert.ok(error instanceof UsageError);
        assert.match(error.message, message);
        return !error.message.includes('sesame');
      });
    });
  }
});

describe('The setting for the storage', () => {
  it('is the flag, else PLANT_STORE_STORAGE, else DATABASE_URL, else a file', (t) => {
    const { PLANT_STORE_STORAGE, DATABASE_URL } = process.env;
    t.after(() => {
      Object.assign(process.env, { PLANT_STORE_STORAGE: PLANT_STORE_STORAGE ?? '', DATABASE_URL: DATABASE_URL ?? '' });
    });
    Object.assign(process.env, { PLANT_STORE_STORAGE: 'memory', DATABASE_URL: 'postgres://localhost' });
    assert.deepEqual(storageSetting('sqlite:a.db'), { text: 'sqlite:a.db', source: '--storage' });
    assert.deepEqual(storageSetting(undefined), { text: 'memory', source: 'PLANT_STORE_STORAGE' });
    process.env['PLANT_STORE_STORAGE'] = '';
    assert.deepEqual(storageSetting(undefined), { text: 'postgres://localhost', source: 'DATABASE_URL' });
    process.env['DATABASE_URL'] = '';
    assert.deepEqual(storageSetting(undefined), { text: 'sqlite:plants.db', source: '--storage' });
    assert.throws(() => storageSetting(''), UsageError);
  });
});

describe('plant-store serve over PostgreSQL', { concurrency: 4 }, () => {
  it('serves the same plants from two servers, one by the flag and one by DATABASE_URL', async (t) => {
    const { cwd, token } = await folderWithToken(t);
    const url = await cluster.makeDatabase();
    const first = await startServer(t, ['--storage', url], { cwd });
    const second = await startServer(t, [], { cwd, env: { DATABASE_URL: url } });
    const plant = '{"id":9007199254740993,"name":"Fern"}';
    assert.deepEqual(await call(first, token, plant), { status: 200, json: { name: 'Fern' } });
    assert.equal((await call(second, token, plant)).status, 400);
    assert.deepEqual(await call(second, token), { status: 200, json: [{ name: 'Fern' }] });
    const [row] = await cluster.query('SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = $1', [
      nameOf(url),
    ]);
    assert.ok(Number(row?.['count']) >= 2);
    for (const server of [first, second]) assert.equal(await server.stop(), 0);
    await eventually(async () => {
      assert.equal(await connections(nameOf(url)), 0);
    });
  });

  it('stays up while the database is away, and never shows the password', async (t) => {
    const { cwd, token } = await folderWithToken(t);
    const database = await PostgresCluster.start();
    t.after(() => database.remove());
    const server = await startServer(t, ['--storage', database.url(), '--log', 'pretty'], { cwd });
    assert.equal((await call(server, token)).status, 200);
    await database.stop();
    await eventually(async () => {
      assert.equal((await call(server, token)).status, 503);
    });
    await eventually(() => {
      assert.match(server.stderr(), /ECONNREFUSED/);
    });
    await database.restart();
    await eventually(async () => {
      assert.equal((await call(server, token)).status, 200);
    });
    assert.equal(await server.stop(), 0);
    assert.doesNotMatch(server.stdout() + server.stderr(), /sesame/);
  });

  it('fails in one sentence on what is no connection string', async (t) => {
    const cwd = await temporaryFolder(t);
    const env = { DATABASE_URL: 'postgres://ada:sesame@localhost:port/plants' };
    const stderr = 'plant-store: DATABASE_URL is not a connection string that pg accepts: Invalid URL.\n';
    assert.deepEqual(await runCommand(['serve', '--port', '0'], { cwd, env }), { code: 2, stdout: '', stderr });
  });

  it('says what to install where there is no package pg', async (t) => {
    // The sources alone, in a place from where no package is found.
    const folder = await temporaryFolder(t);
    const root = fileURLToPath(new URL('../..', import.meta.url));
    await cp(join(root, 'src'), join(folder, 'src'), { recursive: true });
    await cp(join(root, 'package.json'), join(folder, 'package.json'));
    const program = `
      const { run } = await import(${JSON.stringify(join(folder, 'src', 'cli', 'run.ts'))});
      console.log(await run(['serve', '--port', '0', '--storage', 'postgres://ada:sesame@localhost/plants']));
    `;
    const script = `process.stderr.write = (text) => process.stdout.write(text);${program}`;
    const stdout = await runScript(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--import', tsx, '--input-type=module', '--eval', script],
      { cwd: folder },
    );
    assert.equal(stdout, 'plant-store: postgres:// storage needs the package pg: npm install pg\n2\n');
  });
});

describe('plant-store import into PostgreSQL', () => {
  it('takes a key that comes twice for one plant and a conflict', async (t) => {
    const cwd = await temporaryFolder(t);
    const url = await cluster.makeDatabase();
    const lines = ['first', 'second'].map((name) => JSON.stringify({ user: 'ada', id: 1, name }));
    await writeFile(join(cwd, 'plants.ndjson'), lines.join('\n'));
    const { code, stderr } = await runCommand(['import', '--storage', url], { cwd, stdin: 'plants.ndjson' });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^User "ada" has another plant with id 1: it was left as it is\.\nImported 1 plant .*; 0 were there already, 1 conflict\.\n$/,
    );
  });
});
