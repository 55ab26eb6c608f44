import { PlantStore } from 'plant-store';
import { createFetchHandler } from 'plant-store/fetch';
import { SqliteStorage } from 'plant-store/sqlite';
import { serve } from 'srvx';

const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
const server = serve({
  fetch: createFetchHandler(store, {
    authenticate: (token) => (token === process.env.ADAS_TOKEN ? { user: 'ada' } : null),
  }),
  hostname: '127.0.0.1',
  port: Number(process.env.PORT ?? 3000),
  silent: true,
});
await server.ready();
console.log(`listening on ${server.url}`);
