// The service over PostgreSQL. You can start several processes.
// With Plant Store and pg installed: DATABASE_URL=postgres://… node serve-postgres.ts
// In a clone of Plant Store: npm run build && DATABASE_URL=postgres://… node examples/serve-postgres.ts
import { once } from 'node:events';
import { Pool } from 'pg';
import { PlantStore } from 'plant-store';
import { createPlantServer, drainServer } from 'plant-store/http';
import type { Authenticate } from 'plant-store/http';
import { PostgresStorage } from 'plant-store/postgres';

const authenticate: Authenticate = (token) => (token === process.env['ADAS_TOKEN'] ? { user: 'ada' } : null);

const pool = new Pool({
  // The address that always leads to the primary: that of your platform, of a proxy, or of a connection pooler.
  // A failover then costs some answers 503, and no plant where the standby is a synchronous one.
  connectionString: process.env['DATABASE_URL'],
  // One write is under way at a time, whatever the load; the others are for lists.
  max: 10,
  // What does not answer is a 503, not a request that never ends.
  connectionTimeoutMillis: 5000,
  query_timeout: 30_000,
  keepAlive: true,
});
// Without a listener a connection that is lost while idle would end the process.
pool.on('error', (error) => {
  console.error('connection lost:', error.message);
});

const store = new PlantStore({ storage: new PostgresStorage({ pool, schema: 'garden' }) });
const server = createPlantServer(store, { authenticate });
server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1');
await once(server, 'listening');
console.log('listening on', server.address());

await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
await drainServer(server, 8000);
await store.close();
await pool.end();
