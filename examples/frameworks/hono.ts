import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { PlantStore } from 'plant-store';
import { createFetchHandler } from 'plant-store/fetch';
import { SqliteStorage } from 'plant-store/sqlite';

const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
const plants = createFetchHandler(store, {
  authenticate: (token) => (token === process.env.ADAS_TOKEN ? { user: 'ada' } : null),
  basePath: '/garden',
});

const app = new Hono();
app.all('/garden/*', (context) => plants(context.req.raw)); // Do not use app.mount: it starts to read each body.
app.get('/', (context) => context.text('the app itself'));

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT ?? 3000) }, ({ port }) => {
  console.log(`listening on http://127.0.0.1:${port}`);
});
