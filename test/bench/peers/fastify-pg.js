// The plants service on Fastify and pg.
import { Pool } from 'pg';
import { app, createSchema, deleteSchema, fail, listen, listSchema, toPlant } from './fastify-app.js';

const pool = new Pool({ connectionString: process.argv[2], max: 10 });
await pool.query(`CREATE TABLE IF NOT EXISTS plants (
  "user" text, id bigint, name text NOT NULL, tag text, PRIMARY KEY ("user", id)
)`);
const insert = 'INSERT INTO plants ("user", id, name, tag) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING';
const list = 'SELECT name, tag FROM plants WHERE "user" = $1 ORDER BY id LIMIT $2';
const listAfter = 'SELECT name, tag FROM plants WHERE "user" = $1 AND id > $2 ORDER BY id LIMIT $3';
const remove = 'DELETE FROM plants WHERE "user" = $1 AND id = $2';

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
  return rows.map(toPlant);
});

app.delete('/plants/:id', { schema: deleteSchema }, async (request, reply) => {
  const { rowCount } = await pool.query({ name: 'remove', text: remove, values: [request.user, request.params.id] });
  if (rowCount === 0) return fail(reply, 404, 'no such plant');
  return reply.code(204).send();
});

await listen();
