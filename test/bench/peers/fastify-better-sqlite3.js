// The plants service on Fastify, with a JSON schema for requests and responses, and better-sqlite3.
import Database from 'better-sqlite3';
import fastify from 'fastify';

const tokens = new Map(Object.entries(JSON.parse(process.env.BENCH_TOKENS ?? '{}')));

const db = new Database(process.argv[2]);
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
db.exec(`CREATE TABLE IF NOT EXISTS plants (
  user TEXT NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, tag TEXT, PRIMARY KEY (user, id)
) WITHOUT ROWID`);
const insert = db.prepare('INSERT INTO plants (user, id, name, tag) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING');
const list = db.prepare('SELECT name, tag FROM plants WHERE user = ? ORDER BY id LIMIT ?');
const listAfter = db.prepare('SELECT name, tag FROM plants WHERE user = ? AND id > ? ORDER BY id LIMIT ?');
const remove = db.prepare('DELETE FROM plants WHERE user = ? AND id = ?');

const id = { type: 'integer' };
const plant = { type: 'object', required: ['name'], properties: { name: { type: 'string' }, tag: { type: 'string' } } };
const failure = { type: 'object', properties: { error: { type: 'integer' }, message: { type: 'string' } } };

const createSchema = {
  body: {
    type: 'object',
    required: ['id', 'name'],
    properties: { id, name: { type: 'string' }, tag: { type: 'string' } },
  },
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

app.post('/plants', { schema: createSchema }, (request, reply) => {
  const { id, name, tag } = request.body;
  const { changes } = insert.run(request.user, id, name, tag ?? null);
  if (changes === 0) return fail(reply, 400, 'the id is taken');
  return reply.send({ name, tag });
});

app.get('/plants', { schema: listSchema }, (request, reply) => {
  const { limit = -1, after } = request.query;
  const rows = after === undefined ? list.all(request.user, limit) : listAfter.all(request.user, after, limit);
  return reply.send(rows.map(({ name, tag }) => (tag === null ? { name } : { name, tag })));
});

app.delete('/plants/:id', { schema: deleteSchema }, (request, reply) => {
  const { changes } = remove.run(request.user, request.params.id);
  if (changes === 0) return fail(reply, 404, 'no such plant');
  return reply.code(204).send();
});

const address = await app.listen({ host: '127.0.0.1', port: 0 });
console.log(`listening on ${address}`);
