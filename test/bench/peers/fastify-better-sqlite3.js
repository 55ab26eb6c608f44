// The plants service on Fastify and better-sqlite3.
import Database from 'better-sqlite3';
import { app, createSchema, deleteSchema, fail, listen, listSchema, toPlant } from './fastify-app.js';

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

app.post('/plants', { schema: createSchema }, (request, reply) => {
  const { id, name, tag } = request.body;
  const { changes } = insert.run(request.user, id, name, tag ?? null);
  if (changes === 0) return fail(reply, 400, 'the id is taken');
  return reply.send({ name, tag });
});

app.get('/plants', { schema: listSchema }, (request, reply) => {
  const { limit = -1, after } = request.query;
  const rows = after === undefined ? list.all(request.user, limit) : listAfter.all(request.user, after, limit);
  return reply.send(rows.map(toPlant));
});

app.delete('/plants/:id', { schema: deleteSchema }, (request, reply) => {
  const { changes } = remove.run(request.user, request.params.id);
  if (changes === 0) return fail(reply, 404, 'no such plant');
  return reply.code(204).send();
});

await listen();
