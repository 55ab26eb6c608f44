// The plants service on Hono, @hono/node-server and node:sqlite.
import { DatabaseSync } from 'node:sqlite';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';

const tokens = new Map(Object.entries(JSON.parse(process.env.BENCH_TOKENS ?? '{}')));

const db = new DatabaseSync(process.argv[2]);
db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
db.exec(`CREATE TABLE IF NOT EXISTS plants (
  user TEXT NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, tag TEXT, PRIMARY KEY (user, id)
) WITHOUT ROWID`);
const insert = db.prepare('INSERT INTO plants (user, id, name, tag) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING');
const list = db.prepare('SELECT name, tag FROM plants WHERE user = ? ORDER BY id LIMIT ?');
const listAfter = db.prepare('SELECT name, tag FROM plants WHERE user = ? AND id > ? ORDER BY id LIMIT ?');
const remove = db.prepare('DELETE FROM plants WHERE user = ? AND id = ?');

const app = new Hono();

function fail(c, error, message) {
  return c.json({ error, message }, error);
}

app.onError((error, c) => fail(c, error instanceof HTTPException ? error.status : 500, error.message));

app.use(async (c, next) => {
  const authorization = c.req.header('Authorization');
  const user = authorization?.startsWith('Bearer ') ? tokens.get(authorization.slice(7)) : undefined;
  if (user === undefined) return fail(c, 401, 'a known bearer token is needed');
  c.set('user', user);
  await next();
});

app.post('/plants', async (c) => {
  const body = await c.req.json().catch((cause) => {
    throw new HTTPException(400, { message: 'the body is not JSON', cause });
  });
  const { id, name, tag } = body ?? {};
  if (!Number.isSafeInteger(id) || typeof name !== 'string' || (tag !== undefined && typeof tag !== 'string')) {
    return fail(c, 400, 'a plant has an integer id, a name and an optional tag');
  }
  const { changes } = insert.run(c.get('user'), id, name, tag ?? null);
  if (changes === 0) return fail(c, 400, 'the id is taken');
  return c.json({ name, tag });
});

app.get('/plants', (c) => {
  const limit = Number(c.req.query('limit') ?? -1);
  const after = c.req.query('after');
  if (!Number.isSafeInteger(limit) || (after !== undefined && !Number.isSafeInteger(Number(after)))) {
    return fail(c, 400, 'limit and after are integers');
  }
  const user = c.get('user');
  const rows = after === undefined ? list.all(user, limit) : listAfter.all(user, Number(after), limit);
  return c.json(rows.map(({ name, tag }) => (tag === null ? { name } : { name, tag })));
});

app.delete('/plants/:id', (c) => {
  const id = Number(c.req.param('id'));
  if (!Number.isSafeInteger(id)) return fail(c, 400, 'an id is an integer');
  const { changes } = remove.run(c.get('user'), id);
  if (changes === 0) return fail(c, 404, 'no such plant');
  return c.body(null, 204);
});

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  console.log(`listening on http://127.0.0.1:${port}`);
});
