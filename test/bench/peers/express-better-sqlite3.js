// The plants service on Express and better-sqlite3.
import Database from 'better-sqlite3';
import express from 'express';

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

const app = express();
app.disable('x-powered-by');
app.disable('etag');

function fail(res, error, message) {
  res.status(error).json({ error, message });
}

app.use((req, res, next) => {
  const { authorization } = req.headers;
  const user = authorization?.startsWith('Bearer ') ? tokens.get(authorization.slice(7)) : undefined;
  if (user === undefined) return fail(res, 401, 'a known bearer token is needed');
  req.user = user;
  next();
});
app.use(express.json());

app.post('/plants', (req, res) => {
  const { id, name, tag } = req.body ?? {};
  if (!Number.isSafeInteger(id) || typeof name !== 'string' || (tag !== undefined && typeof tag !== 'string')) {
    return fail(res, 400, 'a plant has an integer id, a name and an optional tag');
  }
  const { changes } = insert.run(req.user, id, name, tag ?? null);
  if (changes === 0) return fail(res, 400, 'the id is taken');
  res.json({ name, tag });
});

app.get('/plants', (req, res) => {
  const limit = req.query.limit === undefined ? -1 : Number(req.query.limit);
  const after = req.query.after === undefined ? undefined : Number(req.query.after);
  if (!Number.isSafeInteger(limit) || (after !== undefined && !Number.isSafeInteger(after))) {
    return fail(res, 400, 'limit and after are integers');
  }
  const rows = after === undefined ? list.all(req.user, limit) : listAfter.all(req.user, after, limit);
  res.json(rows.map(({ name, tag }) => (tag === null ? { name } : { name, tag })));
});

app.delete('/plants/:id', (req, res) => {
  const id = Number(req.params.id);
  if (!Number.isSafeInteger(id)) return fail(res, 400, 'an id is an integer');
  const { changes } = remove.run(req.user, id);
  if (changes === 0) return fail(res, 404, 'no such plant');
  res.status(204).end();
});

app.use((error, req, res, next) => {
  if (res.headersSent) return next(error);
  fail(res, error.status ?? 500, error.message);
});

const server = app.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
