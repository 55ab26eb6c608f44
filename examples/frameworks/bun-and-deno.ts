// Run this file with `bun bun-and-deno.ts` or `deno serve --allow-all bun-and-deno.ts`.
import { PlantStore } from 'plant-store';
import { createFetchHandler } from 'plant-store/fetch';
import { SqliteStorage } from 'plant-store/sqlite';

const store = new PlantStore({ storage: new SqliteStorage('plants.db') });

export default {
  hostname: '127.0.0.1',
  port: Number(process.env.PORT ?? 3000),
  fetch: createFetchHandler(store, {
    authenticate: (token) => (token === process.env.ADAS_TOKEN ? { user: 'ada' } : null),
  }),
};
