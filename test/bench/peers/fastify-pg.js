// The plants service on Fastify, with a JSON schema for requests and responses, and PostgreSQL through pg.
import fastify from 'fastify';
import { Pool } from 'pg';

const tokens = new Map(Object.entries(JSON.parse(process.env.BENCH_TOKENS ?? '{}')));

const pool = new Pool({ connectionString: process.argv[2], max: 10 });
await pool.query(`CREATE TABLE IF NOT EXISTS plants (
  "user" text, id bigint, name text NOT NULL, tag text, PRIMARY KEY ("user", id)
)`);
const insert = 'INSERT INTO plants ("user", id, name, tag) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING';
const list = 'SELECT name, tag FROM plants WHERE "user" = $1 ORDER BY id LIMIT $2';
const listAfter = 'SELECT name, tag FROM plants WHERE "user" = $1 AND id > $2 ORDER BY id LIMIT $3';
const remove = 'DELETE FROM plants WHERE "user" = $1 AND id = $2';

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

app.post('/plants', { schema: createSchema }, async (request, reply) => {
  const { id, name, tag } = request.body;
  const { rowCount } = await pool.query({
    name: 'insert',
    text: insert,
    values: [request.user, id, name, tag ?? null],
  });
  if (rowCount === 0) return fail(reply, 400, 'the id is taken');
  return { name, tag };
});

app.get('/plants', { schema: listSchema }, async (request) => {
  const { limit = null, after } = request.query;
  const { rows } =
    after === undefined
      ? await pool.query({ name: 'list', text: list, values: [request.user, limit] })
      : await pool.query({ name: 'list-after', text: listAfter, values: [request.user, after, limit] });
  return rows.map(({ name, tag }) => (tag === null ? { name } : { name, tag }));
});

app.delete('/plants/:id', { schema: deleteSchema }, async (request, reply) => {
  const { rowCount } = await pool.query({ name: 'remove', text: remove, values: [request.user, request.params.id] });
  if (rowCount === 0) return fail(reply, 404, 'no such plant');
  return reply.code(204).send();
});

const address = await app.listen({ host: '127.0.0.1', port: 0 });
console.log(`listening on ${address}`);
