// The plants service on Fastify, with better-sqlite3 (the argument is `sqlite:` and a path) or pg (a URL).
import fastify from 'fastify';

const id = { type: 'integer' };
const plant = { type: 'object', required: ['name'], properties: { name: { type: 'string' }, tag: { type: 'string' } } };
const failure = { type: 'object', properties: { error: { type: 'integer' }, message: { type: 'string' } } };
const createSchema = {
  body: { type: 'object', required: ['id', 'name'], properties: { id, ...plant.properties } },
  response: { 200: plant, '4xx': failure },
};
const listSchema = {
  querystring: { type: 'object', properties: { limit: { type: 'integer', minimum: 0 }, after: id } },
  response: { 200: { type: 'array', items: plant }, '4xx': failure },
};
const deleteSchema = {
  params: { type: 'object', required: ['id'], properties: { id } },
  response: { 204: { type: 'null' }, '4xx': failure },
};

async function openSqlite(path) {
  const { default: Database } = await import('better-sqlite3');
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec(`CREATE TABLE IF NOT EXISTS plants (
    user TEXT NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, tag TEXT, PRIMARY KEY (user, id)
  ) WITHOUT ROWID`);
  const insert = db.prepare('INSERT INTO plants (user, id, name, tag) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING');
  const list = db.prepare('SELECT name, tag FROM plants WHERE user = ? ORDER BY id LIMIT ?');
  const listAfter = db.prepare('SELECT name, tag FROM plants WHERE user = ? AND id > ? ORDER BY id LIMIT ?');
  const remove = db.prepare('DELETE FROM plants WHERE user = ? AND id = ?');
  return {
    insert: (...plant) => insert.run(...plant).changes,
    list: (user, limit = -1, after) =>
      after === undefined ? list.all(user, limit) : listAfter.all(user, after, limit),
    remove: (user, id) => remove.run(user, id).changes,
  };
}

async function openPostgres(connectionString) {
  const { Pool } = await import('pg');
  const pool = new Pool({ connectionString, max: 10 });
  await pool.query(`CREATE TABLE IF NOT EXISTS plants (
    "user" text COLLATE "C", id bigint, name text NOT NULL, tag text, PRIMARY KEY ("user", id)
  )`);
  const run = (name, text, values) => pool.query({ name, text, values });
  const insert = 'INSERT INTO plants ("user", id, name, tag) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING';
  const list = 'SELECT name, tag FROM plants WHERE "user" = $1 ORDER BY id LIMIT $2';
  const listAfter = 'SELECT name, tag FROM plants WHERE "user" = $1 AND id > $2 ORDER BY id LIMIT $3';
  const remove = 'DELETE FROM plants WHERE "user" = $1 AND id = $2';
  return {
    insert: async (...plant) => (await run('insert', insert, plant)).rowCount,
    list: async (user, limit = null, after) =>
      (await (after === undefined ? run('list', list, [user, limit]) : run('after', listAfter, [user, after, limit])))
        .rows,
    remove: async (user, id) => (await run('remove', remove, [user, id])).rowCount,
  };
}

const [location] = process.argv.slice(2);
const storage = await (location.startsWith('postgres:')
  ? openPostgres(location)
  : openSqlite(location.replace('sqlite:', '')));
const app = fastify({ logger: false });

function fail(reply, error, message) {
  return reply.code(error).send({ error, message });
}

app.setErrorHandler((error, request, reply) => fail(reply, error.statusCode ?? 500, error.message));
app.decorateRequest('user', '');
app.addHook('onRequest', (request, reply, done) => {
  const user = /^Bearer pst_benchmark-(.+)$/.exec(request.headers.authorization)?.[1];
  if (user === undefined) {
    fail(reply, 401, 'a known bearer token is needed');
    return;
  }
  request.user = user;
  done();
});
app.post('/plants', { schema: createSchema }, async (request, reply) => {
  const { id, name, tag } = request.body;
  const count = await storage.insert(request.user, id, name, tag ?? null);
  return count === 0 ? fail(reply, 400, 'the id is taken') : { name, tag };
});
app.get('/plants', { schema: listSchema }, async ({ user, query: { limit, after } }) => {
  const rows = await storage.list(user, limit, after);
  return rows.map(({ name, tag }) => (tag === null ? { name } : { name, tag }));
});
app.delete('/plants/:id', { schema: deleteSchema }, async (request, reply) => {
  const count = await storage.remove(request.user, request.params.id);
  return count === 0 ? fail(reply, 404, 'no such plant') : reply.code(204).send();
});
console.log(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}`);
