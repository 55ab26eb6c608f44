// Next.js: app/garden/[[...path]]/route.ts
import { PlantStore } from 'plant-store';
import { createFetchHandler } from 'plant-store/fetch';
import { SqliteStorage } from 'plant-store/sqlite';

/** Opens the store at the first request, because `next build` also imports this file. */
function open(): ReturnType<typeof createFetchHandler> {
  const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
  return createFetchHandler(store, {
    authenticate: (token) => (token === process.env.ADAS_TOKEN ? { user: 'ada' } : null),
    basePath: '/garden',
  });
}

let plants: ReturnType<typeof open> | undefined;
const handler = (request: Request): Promise<Response> => (plants ??= open())(request);

// Next.js itself responds to methods that are not exported, so export all methods.
export { handler as GET, handler as HEAD, handler as OPTIONS, handler as POST };
export { handler as DELETE, handler as PATCH, handler as PUT };
export const runtime = 'nodejs';
