import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { expositionType } from './exposition.ts';

/** The functions that provide the responses of the admin port. */
export interface AdminPages {
  /** Returns the reason why the server is not ready, or `undefined` if it is ready. */
  readonly problem: () => Promise<string | undefined>;
  /** Returns the metrics in the Prometheus text format. */
  readonly metrics: () => Promise<string>;
}

interface Page {
  readonly status: number;
  readonly text: string;
  readonly type?: string;
}

/**
 * The maximum number of open connections to the admin port. They use only part of the file descriptors that
 * `connectionLimit` reserves, so the admin port works even if the public port has reached its connection limit.
 */
const maxConnections = 8;

/**
 * Creates the server of the admin port. `GET /live` responds with 200, `GET /ready` with 200 or 503, and `GET /metrics`
 * with the metrics. Each response closes its connection, so that idle clients do not use up the connection limit.
 */
export function createAdminServer(pages: AdminPages): Server {
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, text, type = 'text/plain; charset=utf-8' } = await pageFor(request, pages);
    response.writeHead(status, {
      'Content-Type': type,
      'Content-Length': Buffer.byteLength(text),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      Connection: 'close',
      ...(status === 405 && { Allow: 'GET, HEAD' }),
    });
    response.end(request.method === 'HEAD' ? undefined : text);
  };
  // If `respond` rejects, the rejection is unhandled and ends the process. A failure of the admin port must not go
  // unnoticed.
  const server = createServer(
    { headersTimeout: 5000, requestTimeout: 5000, connectionsCheckingInterval: 1000 },
    (request, response) => void respond(request, response),
  );
  return Object.assign(server, { maxConnections, timeout: 10_000 });
}

async function pageFor({ method = '', url = '' }: IncomingMessage, pages: AdminPages): Promise<Page> {
  const path = url.replace(/\?.*/s, '');
  if (!['/live', '/ready', '/metrics'].includes(path)) return { status: 404, text: 'not found\n' };
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, text: 'method not allowed\n' };
  if (path === '/metrics') return { status: 200, text: await pages.metrics(), type: expositionType };
  const problem = path === '/live' ? undefined : await pages.problem();
  return problem === undefined ? { status: 200, text: 'ok\n' } : { status: 503, text: `${problem}\n` };
}
