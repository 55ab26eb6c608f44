import express from 'express';
import { PlantStore } from 'plant-store';
import { createRequestListener, drainServer } from 'plant-store/http';
import { SqliteStorage } from 'plant-store/sqlite';

const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
const plants = createRequestListener(store, {
  authenticate: (token) => (token === process.env.ADAS_TOKEN ? { user: 'ada' } : null),
});

const app = express();
app.use('/garden', (request, response) => plants(request, response)); // before any body parser
app.use(express.json());
app.get('/', (_request, response) => {
  response.send('the app itself');
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log('listening on', server.address());
});
const stop = (): void => {
  void drainServer(server).then(() => store.close());
};
process.once('SIGINT', stop).once('SIGTERM', stop);
