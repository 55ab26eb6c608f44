// Mounts the service under a path prefix in an existing node:http app.
// In a project of type "module" with Plant Store installed, run `npx node mount.ts`.
// In a clone of Plant Store, run `npm run build && npx node examples/mount.ts`.
import { createServer } from 'node:http';
import { MemoryStorage, PlantStore } from 'plant-store';
import { createRequestListener, drainServer } from 'plant-store/http';

const store = new PlantStore({ storage: new MemoryStorage() });
const plants = createRequestListener(store, {
  authenticate: (token) => (token === 'adas-token' ? { user: 'ada' } : null),
});

const prefix = '/garden';
const server = createServer((request, response) => {
  const { url = '/' } = request;
  if (url.startsWith(`${prefix}/`)) {
    // Moves the prefix from `url` to `baseUrl`, as Express does. `Link` headers contain both.
    void plants(Object.assign(request, { url: url.slice(prefix.length), baseUrl: prefix }), response);
    return;
  }
  response.end('the app itself\n');
});

server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  console.log('listening on', server.address());
});
const stop = (): void => {
  void drainServer(server).then(() => store.close());
};
process.once('SIGINT', stop).once('SIGTERM', stop);
