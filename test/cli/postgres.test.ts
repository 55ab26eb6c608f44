import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { Client } from 'pg';
import { describeError, isWrongSetting } from '../../src/cli/errors.ts';
import { openStorage, parseStorage } from '../../src/cli/storage.ts';
import type { StorageLocation } from '../../src/cli/storage.ts';
import { create, firstPage } from '../../src/testing/plants.ts';
import { assertFails, callCommand } from '../support/call-command.ts';
import { runCommand, spawnCommand } from '../support/command-line.ts';
import { eventually, eventuallyEqual } from '../support/eventually.ts';
import { PostgresCluster } from '../support/postgres.ts';
import { untilListening } from '../support/server-process.ts';
import { createAll, rowOfPlants } from '../support/stored-plants.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { folderWithToken } from '../support/token-server.ts';

const cluster = await PostgresCluster.start({ after }, { checksPassword: true });

const locate = (value: string): StorageLocation => parseStorage({ value, source: '--storage' }, ['postgres']);

it('openStorage › opens at most max connections to PostgreSQL, and closes them with the storage', async () => {
  const url = await cluster.makeDatabase();
  const storage = openStorage(locate(`${url.replace('postgres:', 'postgresql:')}?max=2`));
  assert.equal(await cluster.connections(url), 0, 'It does not connect before it is used.');
  assert.deepEqual(await storage.commit([create(1n, 'ada', 'Fern')]), [true]);
  await Promise.all(Array.from({ length: 20 }, () => storage.list('ada', firstPage)));
  assert.equal(await cluster.connections(url), 2);
  for (let n = 0; n < 2; n++) await storage.close();
  await eventuallyEqual(() => cluster.connections(url), 0);
});

it('openStorage › rejects a call and closes if pg throws an error instead of connecting', async () => {
  const location = {
    ...locate('postgres://127.0.0.1/garden'),
    connectionString: 'postgres://127.0.0.1/garden?host=%00',
  };
  const storage = openStorage(location);
  await assert.rejects(storage.list('ada', firstPage), /null bytes|EINVAL|ERR_INVALID_ARG_VALUE/);
  await storage.close();
});

it('openStorage › rejects a call if the connection is lost before its first statement', async (t) => {
  const url = new URL(await cluster.makeDatabase());
  const proxy = await startTcpProxy(t, Number(url.port));
  url.port = String(proxy.port);
  const storage = openStorage(locate(url.href));
  t.after(() => storage.close());
  proxy.cutAt('client_connection_check_interval');
  await assert.rejects(storage.list('ada', firstPage), /Connection terminated/);
});

it('openStorage › leaves no backend waiting for a lock after query_timeout', async (t) => {
  const url = await cluster.makeDatabase();
  const storage = openStorage(locate(`${url}?application_name=garden&max=2&query_timeout=500`));
  t.after(() => storage.close());
  // A slow machine may need more time than query_timeout.
  await eventually(() => storage.commit([create(1)]));
  const busy = new Client({ connectionString: url });
  await busy.connect();
  t.after(() => busy.end());
  await busy.query('BEGIN; LOCK TABLE plants');
  for (let n = 0; n < 6; n++) await assert.rejects(storage.commit([create(2)]), /timeout/);
  // The backend of a closed connection ends within a second.
  await eventually(async () => {
    const backends = await cluster.query("SELECT FROM pg_stat_activity WHERE application_name = 'garden'");
    assert.ok(backends.length <= 2, `${backends.length} backends`);
  });
  await busy.query('COMMIT');
  await eventuallyEqual(async () => (await storage.list('ada', firstPage)).plants[0]?.id, 1n);
});

it('parseStorage › refuses connection parameters that pg would ignore or misread, and passes others to pg', () => {
  for (const [parameters, reason] of Object.entries({
    'sslmod=require': /sslmod of --storage is not supported\. Use .*\bsslmode\b/,
    'tabel=garden': /\btable\b/,
    'target_session_attrs=read-write': /target_session_attrs .* not supported/,
    'table=a&table=b': /repeated/,
    'query_timeout=10s': /integer/,
    // After 2^31 ms or more, a timer of Node.js would expire at once.
    'query_timeout=2147483648': /query_timeout of --storage must be an integer from 1 to 2147483647/,
    'port=65536': /The parameter port of --storage must be an integer from 1 to 65535/,
    'host=a%00': /must not contain %00/,
    'sslmode=allow': /verify-full/,
    'sslrootcert=system': /must be a file/,
    // `pg` reads the file synchronously, so a pipe without a writer would block the process.
    'sslkey=/dev/null': /must be a file/,
    'host=a,b': /one host/,
  })) {
    assert.throws(() => locate(`postgres://ada:sesame@localhost/garden?${parameters}`), reason);
  }
  assert.throws(() => locate('postgres://ada:sesame@a:5432,b:5432/garden'), /one host/);
  for (const port of ['0', '65536', 'x']) {
    assert.throws(
      () => locate(`postgres://ada:sesame@[::1]:${port}/garden`),
      /The port of --storage must be an integer/,
    );
  }
  const location = locate('postgres://ada:a,b@[::1]:5432/garden?sslmode=require&max=3&table=pots#x');
  // With `require`, pg would print a warning.
  const connectionString = 'postgres://ada:a,b@[::1]:5432/garden?sslmode=verify-full';
  const place = 'PostgreSQL at [::1]:5432/garden';
  assert.partialDeepStrictEqual(location, { connectionString, max: 3, table: 'pots', place });
});

it('isWrongSetting › recognizes a wrong password, role, database or schema, but not a refused connection', async () => {
  const url = await cluster.makeDatabase();
  await cluster.queryAt(url, "CREATE ROLE ann LOGIN PASSWORD 'sesame'");
  const describe = async (text: string): Promise<string | undefined> => {
    const storage = openStorage(locate(text));
    const [outcome] = await Promise.allSettled([storage.list('ada', firstPage)]);
    await storage.close();
    assert.equal(outcome.status, 'rejected', text);
    return isWrongSetting(outcome.reason) ? describeError(outcome.reason) : undefined;
  };
  for (const [text, reason] of [
    [url.replace('sesame', 'wrong'), 'password authentication failed for user "postgres"'],
    [url.replace(':sesame', ''), 'PGPASSWORD'],
    [url.replace('postgres:sesame', 'nobody:sesame'), 'password authentication failed for user "nobody"'],
    [`${url}x`, 'database "plants_'],
    [`${url}?schema=garden`, 'schema'],
    [url.replace('postgres:sesame', 'ann:sesame'), 'permission denied for schema public'],
    [`${url}?sslmode=verify-full`, 'does not support SSL'],
    [`${url}?options=-c%20no.such%3D1%20-c%20nonsense%3D1`, 'nonsense'],
  ] as const) {
    const found = await describe(text);
    assert.ok(found?.includes(reason), `${text}: ${found}`);
  }
  assert.equal(await describe('postgres://ada:sesame@127.0.0.1:1/plants'), undefined);
});

it('plant-store commands › refuse an invalid PGPORT', async (t) => {
  const context = { cwd: await temporaryFolder(t), env: { PGPORT: '65536' } };
  for (const command of ['export', 'serve --port 0']) {
    await assertFails(`${command} --storage postgres://ada:sesame@127.0.0.1/garden`, context, /PGPORT must be/, 2);
  }
});

it('plant-store commands › create a PostgreSQL table only to write to it, and never create a schema', async (t) => {
  const { cwd } = await folderWithToken(t);
  await createAll(join(cwd, 'a.db'), rowOfPlants('ada', 1));
  const url = await cluster.makeDatabase();
  for (const parameters of ['?table=foo', '?schema=public&table=foo', '?schema=garden']) {
    await assertFails(`export --storage ${url}${parameters}`, { cwd }, /^plant-store: There is no table/);
    await assertFails(`copy --from ${url}${parameters} --to sqlite:new.db`, { cwd }, 'no table');
  }
  await assertFails(`copy --from sqlite:a.db --to ${url}?schema=garden`, { cwd }, 'schema');
  const serve = await runCommand(['serve', '--port', '0', '--storage', url], { cwd });
  assert.deepEqual([serve.code, serve.stdout], [2, '']);
  assert.match(serve.stderr, /^(?!.*sesame).*There is no table .*plants.* The tokens file .*add --create once/);
  const created = "SELECT FROM pg_class WHERE relname IN ('foo', 'plants')";
  assert.deepEqual(await cluster.queryAt(url, created), []);
  assert.deepEqual(await cluster.queryAt(url, "SELECT FROM pg_namespace WHERE nspname = 'garden'"), []);
  assert.deepEqual((await readdir(cwd)).sort(), ['a.db', 'tokens.json']);
  const args = ['copy', '--from', 'sqlite:a.db', '--to', `${url}?schema=public&table=foo`];
  assert.equal((await callCommand(args, { cwd })).code, 0);
  assert.deepEqual(await cluster.queryAt(url, 'SELECT name FROM public.foo'), [{ name: 'plant number 0' }]);
  // An import without plants also creates the table.
  assert.equal((await callCommand(['import', '--storage', url], { cwd })).code, 0);
  assert.deepEqual(await cluster.queryAt(url, 'SELECT FROM plants'), []);
});

it('serve over PostgreSQL › waits while the database is down, and logs the recovery', async (t) => {
  await cluster.stop();
  const { cwd } = await folderWithToken(t);
  // If the name has several addresses, the error is an AggregateError without a message.
  const url = cluster.url().replace('127.0.0.1', 'localhost');
  const child = spawnCommand(['serve', '--port', '0', '--admin-port', '0', '--create', '--storage', url], { cwd });
  const server = await untilListening(t, child, /^Health and metrics: (\S+)\n[^]*waiting for the storage/m);
  const becomes = (status: number): Promise<void> =>
    eventuallyEqual(async () => (await fetch(`${server.url}/ready`)).status, status);
  await becomes(503);
  assert.doesNotMatch(server.stdout(), /listening/);
  await cluster.restart();
  await becomes(200);
  await server.printed(/^Plant Store listening on /m);
  await cluster.stop();
  await becomes(503);
  await cluster.restart();
  await becomes(200);
  assert.equal(await server.stop(), 0);
  const entries = server.stderr().trimEnd().split('\n');
  const [waiting = '', listening, down = '', up] = entries.map(
    (line) => (JSON.parse(line) as { message: string }).message,
  );
  assert.match(waiting, /Waiting for the storage: .*ECONNREFUSED.*:\d/);
  assert.match(down, /The storage does not work: /);
  assert.deepEqual([listening, up], ['listening', 'The storage works again.']);
  assert.doesNotMatch(server.stdout() + server.stderr(), /sesame/);
});
