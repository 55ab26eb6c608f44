// The plants service on Fastify, with better-sqlite3 (the argument is `sqlite:` and a path) or pg (a URL).
import fastify from 'fastify';

const id = { type: 'integer' };
const plant = { type: 'object', required: ['name'], properties: { name: { type: 'string' }, tag: { type: 'string' } } };
const createSchema = {
  body: { type: 'object', required: ['id', 'name'], properties: { id, ...plant.properties } },
  response: { 200: plant },
};
const listSchema = {
  querystring: { type: 'object', properties: { limit: { type: 'integer', minimum: 0 }, after: id } },
  response: { 200: { type: 'array', items: plant } },
};
const deleteSchema = { params: { type: 'object', required: ['id'], properties: { id } } };

async function openSqlite(path) {
  const { default: Database } = await import('better-sqlite3');
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec(`CREATE TABLE IF NOT EXISTS plants (
    user TEXT NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, tag TEXT, PRIMARY KEY (user, id)
  ) WITHOUT ROWID`);
  const insert = db.prepare('INSERT INTO plants (user, id, name, tag) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING');
  const list = db.prepare('SELECT name, tag FROM plants WHERE user = ? AND id > ? ORDER BY id LIMIT ?');
  const remove = db.prepare('DELETE FROM plants WHERE user = ? AND id = ?');
  return {
    insert: (...values) => insert.run(...values).changes,
    list: (user, after, limit = -1) => list.all(user, after, limit),
    remove: (...values) => remove.run(...values).changes,
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
  const list = 'SELECT name, tag FROM plants WHERE "user" = $1 AND id > $2 ORDER BY id LIMIT $3';
  const remove = 'DELETE FROM plants WHERE "user" = $1 AND id = $2';
  return {
    insert: async (...values) => (await run('insert', insert, values)).rowCount,
    list: async (user, after, limit) => (await run('list', list, [user, after, limit])).rows,
    remove: async (...values) => (await run('remove', remove, values)).rowCount,
  };
}

const [location] = process.argv.slice(2);
const storage = await (location.startsWith('sqlite:') ? openSqlite(location.slice(7)) : openPostgres(location));
const app = fastify();
app.decorateRequest('user', '');
app.addHook('onRequest', (request, reply, done) => {
  request.user = /^Bearer pst_benchmark-(.+)$/.exec(request.headers.authorization)?.[1];
  if (request.user) done();
  else reply.code(401).send();
});
app.post('/plants', { schema: createSchema }, async ({ user, body: { id, name, tag } }, reply) => {
  const count = await storage.insert(user, id, name, tag ?? null);
  return count === 0 ? reply.code(400).send() : { name, tag };
});
app.get('/plants', { schema: listSchema }, async ({ user, query: { after = Number.MIN_SAFE_INTEGER, limit } }) => {
  const rows = await storage.list(user, after, limit);
  return rows.map(({ name, tag }) => (tag === null ? { name } : { name, tag }));
});
app.delete('/plants/:id', { schema: deleteSchema }, async ({ user, params }, reply) => {
  const count = await storage.remove(user, params.id);
  return reply.code(count === 0 ? 404 : 204).send();
});
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
