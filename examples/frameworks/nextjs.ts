// Next.js: app/garden/[...path]/route.ts
import { PlantStore } from 'plant-store';
import { createFetchHandler } from 'plant-store/fetch';
import { SqliteStorage } from 'plant-store/sqlite';

const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
const handler = createFetchHandler(store, {
  authenticate: (token) => (token === process.env.ADAS_TOKEN ? { user: 'ada' } : null),
  basePath: '/garden',
});

export { handler as GET, handler as POST, handler as DELETE, handler as OPTIONS };
export const runtime = 'nodejs';
