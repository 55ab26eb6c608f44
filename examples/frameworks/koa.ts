import Koa from 'koa';
import { PlantStore } from 'plant-store';
import { createRequestListener } from 'plant-store/http';
import { SqliteStorage } from 'plant-store/sqlite';

const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
const plants = createRequestListener(store, {
  authenticate: (token) => (token === process.env.ADAS_TOKEN ? { user: 'ada' } : null),
  basePath: '/garden',
});

const app = new Koa();
app.use(async (context, next) => {
  if (!context.path.startsWith('/garden/')) return next();
  context.respond = false; // Plant Store responds instead of Koa.
  await plants(context.req, context.res);
});
app.use((context) => {
  context.body = 'the app itself';
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log('listening on', server.address());
});
