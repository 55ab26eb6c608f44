import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { PlantStore } from '../../../core/plant-store.ts';
import { evictConnections } from '../../../http/node/connections.ts';
import { formatMetrics, metricsType } from './metrics.ts';
import type { Readiness } from './readiness.ts';
import { collectServiceMetrics } from './service-metrics.ts';

/**
 * These connections use file descriptors that the public port leaves free, so the admin port works even if the public
 * port has reached its connection limit.
 */
const maxConnections = 8;

/** Each response closes its connection, so that idle clients do not use up the connection limit. */
export function createAdminServer(publicServer: Server, store: PlantStore, readiness: Readiness): Server {
  const serviceMetrics = collectServiceMetrics(publicServer, store);

  async function page({ url = '' }: IncomingMessage): Promise<[status: number, text: string]> {
    const path = url.replace(/\?.*/s, '');
    if (!['/live', '/ready', '/metrics'].includes(path)) return [404, 'not found\n'];
    if (path === '/live') return [200, 'ok\n'];
    const works = await readiness.works();
    if (path === '/metrics') {
      const isUp = works === undefined ? undefined : Number(works);
      const storageUp = ['gauge', 'plant_store_storage_up', 'Whether the storage works, 1 or 0.', isUp] as const;
      return [200, formatMetrics([...serviceMetrics(), storageUp])];
    }
    if (works === undefined) return [503, 'draining\n'];
    return works ? [200, 'ok\n'] : [503, 'the storage does not work; the log says why\n'];
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [status, text] = await page(request);
    response.writeHead(status, {
      'Content-Type': metricsType,
      'Content-Length': Buffer.byteLength(text),
      'Cache-Control': 'no-store',
      Connection: 'close',
    });
    response.end(text);
  }

  // If `respond` rejects, the unhandled rejection ends the process, because a failure of the admin server must not go
  // unnoticed.
  const server = createServer(
    { headersTimeout: 5000, requestTimeout: 5000, connectionsCheckingInterval: 1000 },
    (request, response) => void respond(request, response),
  );
  evictConnections(server);
  return Object.assign(server, { maxConnections, timeout: 10_000 });
}
