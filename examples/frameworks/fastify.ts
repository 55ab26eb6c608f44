import fastify from 'fastify';
import { PlantStore } from 'plant-store';
import { createRequestListener } from 'plant-store/http';
import { SqliteStorage } from 'plant-store/sqlite';

const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
const plants = createRequestListener(store, {
  authenticate: (token) => (token === process.env.ADAS_TOKEN ? { user: 'ada' } : null),
});

const app = fastify();
// A hook runs before Fastify parses the body, and next() is called for the routes of the app.
app.addHook('onRequest', (request, reply, next) => {
  plants(request.raw, reply.raw, next);
});
app.get('/', () => 'the app itself');

console.log('listening on', await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) }));
