// Accepts session cookies: the session's id becomes the bearer token, and `authenticate` looks up the session.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { getCookie } from 'hono/cookie';
import { PlantStore } from 'plant-store';
import { createFetchHandler } from 'plant-store/fetch';
import { SqliteStorage } from 'plant-store/sqlite';

const sessions = new Map([[process.env.SESSION, 'ada']]);
const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
const plants = createFetchHandler(store, {
  authenticate: (token) => {
    const user = sessions.get(token);
    return user === undefined ? null : { user };
  },
});

const app = new Hono();
app.all('/*', (context) => {
  const session = getCookie(context, 'session');
  // Do not copy the request: @hono/node-server would start to read the body, and would not discard the rest of it.
  if (session !== undefined) context.req.raw.headers.set('authorization', `Bearer ${session}`);
  return plants(context.req.raw);
});

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT ?? 3000) }, ({ port }) => {
  console.log(`listening on http://127.0.0.1:${port}`);
});
