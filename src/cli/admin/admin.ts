import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { TokenGrants } from '../../tokens/grants.ts';
import { enableEviction } from '../../http/node/connections.ts';
import { metricsMediaType } from './metrics.ts';
import type { Readiness } from './readiness.ts';
import { collectServiceMetrics } from './service-metrics.ts';

/** The public port leaves file descriptors free for these connections, even if it has reached its connection limit. */
const maxConnections = 32;

/** Stalled clients do not block the admin port: when all connections are open, the oldest silent one is evicted. */
export function createAdminServer(
  publicServer: Server,
  readiness: Readiness,
  grants: Pick<TokenGrants, 'problem' | 'refusesAll'>,
): Server {
  const formatMetrics = collectServiceMetrics(publicServer);

  async function page({ url = '' }: IncomingMessage): Promise<[status: number, text: string]> {
    const path = url.replace(/\?.*/s, '');
    if (!['/live', '/ready', '/metrics'].includes(path)) {
      return [path === '/' ? 200 : 404, 'The pages are /live, /ready and /metrics.\n'];
    }
    if (path === '/live') return [200, 'ok\n'];
    const isUp = publicServer.listening && !readiness.isStopping;
    if (path === '/ready' && !isUp) return [503, 'The server is starting or stopping.\n'];
    if (path === '/ready' && grants.refusesAll) return [503, `${grants.problem}\n`];
    const problem = await readiness.storageProblem();
    if (path === '/metrics') return [200, formatMetrics({ storage: problem === '', tokens: grants.problem === '' })];
    return problem === '' ? [200, 'ok\n'] : [503, `The storage does not work: ${problem}\n`];
  }

  const server = createServer((request, response) => {
    void page(request).then(([status, text]) => {
      // Idle keep-alive connections would reach the limit.
      response.writeHead(status, { 'Content-Type': metricsMediaType, Connection: 'close' }).end(text);
    });
  });
  enableEviction(server);
  return Object.assign(server, { maxConnections });
}
