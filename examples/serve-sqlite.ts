// Starts the service with an SQLite file and a custom token check.
// In a project of type "module" with Plant Store installed, run `npx node serve-sqlite.ts [FILE]`.
// In a clone of Plant Store, run `npm run build && npx node examples/serve-sqlite.ts [FILE]`.
import { once } from 'node:events';
import { PlantStore } from 'plant-store';
import { createPlantServer, drainServer } from 'plant-store/http';
import type { Authenticate } from 'plant-store/http';
import { SqliteStorage } from 'plant-store/sqlite';

// In production, verify a JWT here, or use createTokenFileAuthenticator from plant-store/tokens.
const authenticate: Authenticate = (token) => (token === process.env['ADAS_TOKEN'] ? { user: 'ada' } : null);

const store = new PlantStore({ storage: new SqliteStorage(process.argv[2] ?? 'plants.db') });
const server = createPlantServer(store, { authenticate });
server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1');
await once(server, 'listening');
console.log('listening on', server.address());

await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
await drainServer(server);
await store.close();
