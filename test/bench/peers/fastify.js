// The plants service on Fastify, with better-sqlite3 (the argument is a path) or pg (the argument is a URL).
import fastify from 'fastify';

const tokens = new Map(Object.entries(JSON.parse(process.env.BENCH_TOKENS ?? '{}')));

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

const app = fastify({ logger: false });

function fail(reply, error, message) {
  return reply.code(error).send({ error, message });
}

/** Converts a row to a plant. If the tag is null, the plant has no tag. */
function toPlant({ name, tag }) {
  return tag === null ? { name } : { name, tag };
}

app.setErrorHandler((error, request, reply) => fail(reply, error.statusCode ?? 500, error.message));

app.decorateRequest('user', '');
app.addHook('onRequest', (request, reply, done) => {
  const { authorization } = request.headers;
  const user = authorization?.startsWith('Bearer ') ? tokens.get(authorization.slice(7)) : undefined;
  if (user === undefined) {
    fail(reply, 401, 'a known bearer token is needed');
    return;
  }
  request.user = user;
  done();
});

async function useSqlite(path) {
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

  app.post('/plants', { schema: createSchema }, (request, reply) => {
    const { id, name, tag } = request.body;
    const { changes } = insert.run(request.user, id, name, tag ?? null);
    return changes === 0 ? fail(reply, 400, 'the id is taken') : reply.send({ name, tag });
  });
  app.get('/plants', { schema: listSchema }, (request, reply) => {
    const { limit = -1, after } = request.query;
    const rows = after === undefined ? list.all(request.user, limit) : listAfter.all(request.user, after, limit);
    return reply.send(rows.map(toPlant));
  });
  app.delete('/plants/:id', { schema: deleteSchema }, (request, reply) => {
    const { changes } = remove.run(request.user, request.params.id);
    return changes === 0 ? fail(reply, 404, 'no such plant') : reply.code(204).send();
  });
}

async function usePostgres(connectionString) {
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

  app.post('/plants', { schema: createSchema }, async (request, reply) => {
    const { id, name, tag } = request.body;
    const { rowCount } = await run('insert', insert, [request.user, id, name, tag ?? null]);
    return rowCount === 0 ? fail(reply, 400, 'the id is taken') : { name, tag };
  });
  app.get('/plants', { schema: listSchema }, async ({ user, query: { limit = null, after } }) => {
    const { rows } = await (after === undefined
      ? run('list', list, [user, limit])
      : run('list-after', listAfter, [user, after, limit]));
    return rows.map(toPlant);
  });
  app.delete('/plants/:id', { schema: deleteSchema }, async (request, reply) => {
    const { rowCount } = await run('remove', remove, [request.user, request.params.id]);
    return rowCount === 0 ? fail(reply, 404, 'no such plant') : reply.code(204).send();
  });
}

const [storage] = process.argv.slice(2);
await (storage.startsWith('postgres:') ? usePostgres(storage) : useSqlite(storage));
console.log(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}`);
