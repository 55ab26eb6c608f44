// SvelteKit: src/routes/garden/[...path]/+server.ts
import { PlantStore } from 'plant-store';
import { createFetchHandler } from 'plant-store/fetch';
import { SqliteStorage } from 'plant-store/sqlite';

const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
const handler = createFetchHandler(store, {
  authenticate: (token) => (token === process.env.ADAS_TOKEN ? { user: 'ada' } : null),
  basePath: '/garden',
});

/** Called for every method. */
export const fallback = ({ request }: { request: Request }): Promise<Response> => handler(request);
export const trailingSlash = 'ignore';
