import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../../../support/eventually.ts';
import { PostgresCluster } from '../../../../support/postgres.ts';
import { folderWithToken, startTokenServer } from '../../../../support/token-server.ts';
import { runWithoutPackages } from '../../../../support/without-packages.ts';

let cluster: PostgresCluster;

before(async () => {
  cluster = await PostgresCluster.start();
});

after(() => cluster.remove());

async function connections(database: string): Promise<number> {
  return (await cluster.query('SELECT FROM pg_stat_activity WHERE datname = $1', [database])).length;
}

const nameOf = (url: string): string => new URL(url).pathname.slice(1);

describe('plant-store serve over PostgreSQL', { concurrency: 4 }, () => {
  it('serves the same plants from two servers, one with --storage and one with DATABASE_URL', async (t) => {
    const url = await cluster.makeDatabase();
    const first = await startTokenServer(t, ['--storage', url]);
    const second = await startTokenServer(t, [], { folder: first, env: { DATABASE_URL: url } });
    const body = '{"id":9007199254740993,"name":"Fern"}';
    assert.deepEqual((await first.call('POST', '/plants', { body })).json, { name: 'Fern' });
    assert.equal((await second.call('POST', '/plants', { body })).status, 400);
    assert.deepEqual((await second.call('GET', '/plants')).json, [{ name: 'Fern' }]);
    assert.ok((await connections(nameOf(url))) >= 2);
    for (const { server } of [first, second]) assert.equal(await server.stop(), 0);
    await eventually(async () => {
      assert.equal(await connections(nameOf(url)), 0);
    });
  });

  it('reports a table that it has created, and only then', async (t) => {
    const folder = await folderWithToken(t);
    const url = await cluster.makeDatabase();
    await cluster.queryAt(url, 'CREATE SCHEMA garden');
    for (const isNew of [true, false]) {
      const args = ['--storage', `${url}?schema=garden&table=beds`, '--log', 'pretty'];
      const { server, call } = await startTokenServer(t, args, { folder });
      assert.equal((await call('GET', '/plants')).status, 200);
      assert.equal(await server.stop(), 0);
      assert.equal(server.stderr().includes(' Plants are stored in the new table "garden"."beds".\n'), isNew);
    }
  });

  it('never creates a schema, reports a missing one, and uses it as soon as it exists', async (t) => {
    const url = await cluster.makeDatabase();
    const args = ['--storage', `${url}?schema=garden`, '--log', 'pretty'];
    const { server, call } = await startTokenServer(t, args);
    const { status, json } = await call('GET', '/plants');
    assert.deepEqual([status, json], [500, { error: 50001, message: 'The storage has no table for plants.' }]);
    const sentence =
      'The storage does not work: The storage has no table for plants. There is no schema "garden". ' +
      'Create the schema, or check its name in the connection string. (next try in 1 s)';
    await eventually(() => {
      assert.ok(server.stderr().includes(sentence));
    });
    assert.deepEqual(await cluster.queryAt(url, "SELECT FROM pg_namespace WHERE nspname = 'garden'"), []);
    await cluster.queryAt(url, 'CREATE SCHEMA garden');
    assert.equal((await call('GET', '/plants')).status, 200);
    assert.equal(await server.stop(), 0);
  });

  it('keeps running while the database is down, and never shows the password', async (t) => {
    const database = await PostgresCluster.start();
    t.after(() => database.remove());
    const { server, call } = await startTokenServer(t, ['--storage', database.url(), '--log', 'pretty']);
    const becomes = (status: number): Promise<void> =>
      eventually(async () => {
        assert.equal((await call('GET', '/plants')).status, status);
      });
    await becomes(200);
    await database.stop();
    await becomes(503);
    await eventually(() => {
      assert.match(server.stderr(), /ECONNREFUSED/);
    });
    await database.restart();
    await becomes(200);
    assert.equal(await server.stop(), 0);
    assert.doesNotMatch(server.stdout() + server.stderr(), /sesame/);
  });

  it('names the package to install if pg is missing', async (t) => {
    const args = ['serve', '--port', '0', '--storage', 'postgres://ada:sesame@localhost/plants'];
    const expected = 'plant-store: postgres:// storage needs the package pg: npm install pg\n2\n';
    assert.equal(await runWithoutPackages(t, args), expected);
  });
});
