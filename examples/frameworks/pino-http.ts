import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { pinoHttp } from 'pino-http';
import { PlantStore } from 'plant-store';
import { createRequestListener } from 'plant-store/http';
import { SqliteStorage } from 'plant-store/sqlite';

const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
const plants = createRequestListener(store, {
  authenticate: (token) => (token === process.env.ADAS_TOKEN ? { user: 'ada' } : null),
});

const log = pinoHttp({
  redact: ['req.headers.authorization'],
  // The service uses this header as its request id, so that both logs and the response contain the same id.
  genReqId: (request) => (request.headers['x-request-id'] ??= randomUUID()),
});
const server = createServer((request, response) => {
  log(request, response);
  plants(request, response);
});

server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log('listening on', server.address());
});
