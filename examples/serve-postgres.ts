// Starts the service with PostgreSQL. Several processes can use the same database.
// In a project of type "module" with Plant Store and pg, run `DATABASE_URL=postgres://… npx node serve-postgres.ts`.
// In a clone of Plant Store, run `npm run build && DATABASE_URL=postgres://… npx node examples/serve-postgres.ts`.
import { once } from 'node:events';
import { Pool } from 'pg';
import { PlantStore } from 'plant-store';
import { createPlantServer, drainServer } from 'plant-store/http';
import type { Authenticate } from 'plant-store/http';
import { PostgresStorage } from 'plant-store/postgres';

const authenticate: Authenticate = (token) => (token === process.env['ADAS_TOKEN'] ? { user: 'ada' } : null);

const pool = new Pool({
  // The URL must always lead to the primary, for example through a proxy or a connection pooler. During a failover,
  // requests fail with 503. If the standby is synchronous, no acknowledged plant is lost.
  connectionString: process.env['DATABASE_URL'],
  // At most one connection runs a commit at a time. The other connections are for lists.
  max: 10,
  // If the database does not respond, requests fail with 503 after these timeouts.
  connectionTimeoutMillis: 5000,
  query_timeout: 10_000,
  // Without this setting, PostgreSQL continues to run a statement after its timeout.
  options: '-c client_connection_check_interval=1s',
  keepAlive: true,
});
// Without this listener, losing an idle connection would end the process.
pool.on('error', (error) => {
  console.error('connection lost:', error.message);
});

const store = new PlantStore({ storage: new PostgresStorage({ pool }) });
const server = createPlantServer(store, { authenticate });
server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1');
await once(server, 'listening');
console.log('listening on', server.address());

await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
await drainServer(server);
await store.close();
await pool.end();
