import fastify from 'fastify';
import { createServer } from 'node:http';
import { PlantStore } from 'plant-store';
import { createRequestListener } from 'plant-store/http';
import { SqliteStorage } from 'plant-store/sqlite';

const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
const plants = createRequestListener(store, {
  authenticate: (token) => (token === process.env.ADAS_TOKEN ? { user: 'ada' } : null),
  basePath: '/garden',
});

const app = fastify({
  // Do not call `plants` in a hook, because Fastify itself responds to malformed paths such as /garden/plants/%zz.
  serverFactory: (respond) =>
    createServer((request, response) => {
      if (request.url?.startsWith('/garden/')) plants(request, response);
      else respond(request, response);
    }),
});
app.get('/', () => 'the app itself');

console.log('listening on', await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) }));
