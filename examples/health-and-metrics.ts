// Starts the service, with a second port for health checks and Prometheus metrics.
// In a project of type "module" with Plant Store installed, run `npx node health-and-metrics.ts [FILE]`.
// In a clone of Plant Store, run `npm run build && npx node examples/health-and-metrics.ts [FILE]`.
import { tracingChannel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { PlantStore } from 'plant-store';
import type { CommitMessage } from 'plant-store';
import { createPlantServer, type RequestMessage } from 'plant-store/http';
import { SqliteStorage } from 'plant-store/sqlite';

const store = new PlantStore({ storage: new SqliteStorage(process.argv[2] ?? 'plants.db') });
const plants = createPlantServer(store, {
  authenticate: (token) => (token === process.env['ADAS_TOKEN'] ? { user: 'ada' } : null),
});

const counters = new Map<string, number>();
const add = (name: string, by = 1): unknown => counters.set(name, (counters.get(name) ?? 0) + by);
tracingChannel('plant-store:request').asyncEnd.subscribe((message) => {
  const { operation = 'none', status, durationMs } = message as RequestMessage;
  add(`plants_requests_total{operation="${operation}",status="${status}"}`);
  add(`plants_request_seconds_total{operation="${operation}"}`, durationMs / 1000);
});
tracingChannel('plant-store:commit').asyncEnd.subscribe((message) => {
  const { writes, error } = message as CommitMessage;
  add(`plants_commits_total{error="${error?.code ?? 'none'}"}`);
  add('plants_writes_total', writes);
});

/** Checks that the storage commits within a second. The user `health-check` has no plants to delete. */
function isReady(): Promise<boolean> {
  const commit = store.deletePlant('health-check', 0).then(() => true);
  return Promise.race([commit, sleep(1000, false, { ref: false })]).catch(() => false);
}

const admin = createServer((request, response) => {
  if (request.url === '/metrics') {
    const lines = [...counters, ['plants_pending_writes', store.pendingWrites]].map((each) => each.join(' '));
    response.end(`${lines.join('\n')}\n`);
  } else {
    void isReady().then((ready) => response.writeHead(ready ? 200 : 503).end());
  }
});

plants.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1');
admin.listen(Number(process.env['ADMIN_PORT'] ?? 9000), '127.0.0.1');
await Promise.all([once(plants, 'listening'), once(admin, 'listening')]);
console.log('listening on', plants.address(), 'and', admin.address());
