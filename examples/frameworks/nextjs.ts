// Next.js: app/garden/[[...path]]/route.ts
import { PlantStore } from 'plant-store';
import { createFetchHandler } from 'plant-store/fetch';
import { SqliteStorage } from 'plant-store/sqlite';

const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
const handler = createFetchHandler(store, {
  authenticate: (token) => (token === process.env.ADAS_TOKEN ? { user: 'ada' } : null),
  basePath: '/garden',
});

// Next.js itself responds to methods that are not exported, so export all methods.
export { handler as GET, handler as HEAD, handler as OPTIONS, handler as POST };
export { handler as DELETE, handler as PATCH, handler as PUT };
export const runtime = 'nodejs';
