import middie from '@fastify/middie';
import fastify from 'fastify';
import type { FastifyReply } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PlantStore } from 'plant-store';
import { createRequestListener, drainServer } from 'plant-store/http';
import { SqliteStorage } from 'plant-store/sqlite';

const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
const plants = createRequestListener(store, {
  authenticate: (token) => (token === process.env.ADAS_TOKEN ? { user: 'ada' } : null),
  basePath: '/garden',
});

const app = fastify({
  logger: true,
  // Fastify itself refuses malformed paths such as /garden/plants/%zz. Let the service respond to them.
  frameworkErrors: (error, { raw }, reply: FastifyReply) => {
    if (!raw.url?.startsWith('/garden/')) return reply.send(error);
    plants(raw, reply.hijack().raw);
  },
});
await app.register(middie);
app.use('/garden', (request: IncomingMessage, response: ServerResponse) => plants(request, response));
app.get('/', () => 'the app itself');

console.log('listening on', await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) }));
const stop = (): void => {
  void drainServer(app.server)
    .then(() => app.close())
    .then(() => store.close());
};
process.once('SIGINT', stop).once('SIGTERM', stop);
