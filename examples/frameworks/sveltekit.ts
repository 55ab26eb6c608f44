// SvelteKit: src/routes/garden/[...path]/+server.ts
import { PlantStore } from 'plant-store';
import { createFetchHandler } from 'plant-store/fetch';
import { SqliteStorage } from 'plant-store/sqlite';

/** Opens the store at the first request, because `vite build` also imports this file. */
function open(): ReturnType<typeof createFetchHandler> {
  const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
  return createFetchHandler(store, {
    authenticate: (token) => (token === process.env.ADAS_TOKEN ? { user: 'ada' } : null),
    basePath: '/garden',
  });
}

let plants: ReturnType<typeof open> | undefined;

/** Called for every method. */
export const fallback = ({ request }: { request: Request }): Promise<Response> => (plants ??= open())(request);
export const trailingSlash = 'ignore';
