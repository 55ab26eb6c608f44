// The plants service on Fastify, with better-sqlite3 (the argument is `sqlite:` and a path) or pg (a URL).
import fastify from 'fastify';

const table = (collation) => `CREATE TABLE IF NOT EXISTS plants (
  "user" text COLLATE ${collation}, id bigint, name text NOT NULL, tag text, PRIMARY KEY ("user", id)
)`;
const insert = 'INSERT INTO plants ("user", id, name, tag) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING';
const list = 'SELECT name, tag FROM plants WHERE "user" = $1 AND id > $2 ORDER BY id LIMIT $3';
const remove = 'DELETE FROM plants WHERE "user" = $1 AND id = $2';

async function openSqlite(path) {
  const { default: Database } = await import('better-sqlite3');
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec(`${table('BINARY')} WITHOUT ROWID`);
  const prepare = (text) => db.prepare(text.replaceAll(/\$\d/g, '?'));
  const [inserts, lists, removes] = [insert, list, remove].map(prepare);
  return {
    insert: (...values) => inserts.run(...values).changes,
    list: (...values) => lists.all(...values),
    remove: (...values) => removes.run(...values).changes,
  };
}

async function openPostgres(connectionString) {
  const { Pool } = await import('pg');
  const pool = new Pool({ connectionString, max: 10 });
  await pool.query(table('"C"'));
  const run = (name, text, values) => pool.query({ name, text, values });
  return {
    insert: async (...values) => (await run('insert', insert, values)).rowCount,
    list: async (...values) => (await run('list', list, values)).rows,
    remove: async (...values) => (await run('remove', remove, values)).rowCount,
  };
}

const [location] = process.argv.slice(2);
const storage = await (location.startsWith('sqlite:') ? openSqlite(location.slice(7)) : openPostgres(location));
const id = { type: 'integer' };
const fields = { name: { type: 'string' }, tag: { type: 'string' } };
const plant = { type: 'object', required: ['name'], properties: fields };
const created = { type: 'object', required: ['id', 'name'], properties: { id, ...fields } };
const query = { type: 'object', properties: { limit: { type: 'integer', minimum: 0 }, after: id } };
const params = { type: 'object', required: ['id'], properties: { id } };

const userOf = ({ headers }) => /-(.+)$/.exec(headers.authorization)[1];

const app = fastify();
const toCreate = { schema: { body: created, response: { 200: plant } } };
app.post('/plants', toCreate, async (request, reply) => {
  const { id, name, tag } = request.body;
  const count = await storage.insert(userOf(request), id, name, tag ?? null);
  return count === 0 ? reply.code(400).send() : { name, tag };
});
const toList = { schema: { querystring: query, response: { 200: { type: 'array', items: plant } } } };
app.get('/plants', toList, async (request) => {
  const { after = Number.MIN_SAFE_INTEGER, limit = Number.MAX_SAFE_INTEGER } = request.query;
  const rows = await storage.list(userOf(request), after, limit);
  return rows.map(({ name, tag }) => (tag === null ? { name } : { name, tag }));
});
app.delete('/plants/:id', { schema: { params } }, async (request, reply) => {
  const count = await storage.remove(userOf(request), request.params.id);
  return reply.code(count === 0 ? 404 : 204).send();
});
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
