import { setTimeout as sleep } from 'node:timers/promises';
import { requestHead, requestText } from '../bench/requests.ts';
import { besidePoliteUser } from './beside-polite-user.ts';
import type { Overload } from './beside-polite-user.ts';
import type { StatsReport } from './clients/response-stats.ts';
import { startLoad } from './clients/start-load.ts';
import type { RunningLoad } from './clients/start-load.ts';
import { greedyUser, politeUser } from './run-scenario.ts';
import type { Context, Result, Scenario } from './run-scenario.ts';
import { describeRefused } from './table.ts';

/** Waits until a load is ready. Returns the load as an overload that can be stopped. */
async function untilReady<Report>(load: RunningLoad<Report>, describe: (report: Report) => string): Promise<Overload> {
  await load.ready;
  return {
    stop: async () => {
      load.stop();
      return describe(await load.report);
    },
  };
}

function describe({ served, longestMs, ...others }: StatsReport): string {
  return `the overload: ${served} served, not served: ${describeRefused({ served, longestMs, ...others })}`;
}

/** The clients behave well, but send far more requests than a fair share. */
function clientsOfOneUser(work: 'create' | 'list 20', connections: number): Scenario {
  const start = (port: number): Promise<Overload> => {
    const options = { connections, work, users: [greedyUser], milliseconds: 60_000 } as const;
    return untilReady(startLoad('runClosedLoop', { port, ...options }), describe);
  };
  return besidePoliteUser(`${connections} clients of one user: ${work}`, start);
}

/** The clients each request one list. All of them do so at the same time and read as fast as they can. */
function requestLists(
  method: 'GET' | 'HEAD',
  connections: number,
  target: string,
  plants: readonly [number, number],
): Scenario {
  const start = (port: number): Promise<Overload> => {
    const options = { connections, method, target, user: greedyUser, milliseconds: 60_000 } as const;
    return untilReady(startLoad('requestLists', { port, ...options }), describe);
  };
  return besidePoliteUser(`${connections} × ${method} ${target} of ${plants[0]} plants`, start, plants);
}

/** More clients connect than the server accepts, and then stall. The server must serve new clients within 3 seconds. */
function thenNewClients(name: string, text: string): Scenario {
  const [connections, clients] = [10_500, 20];
  const run = async ({ server: { port } }: Context): Promise<Result> => {
    const overload = await stall(port, connections, text);
    const rate = { perSecond: 5, milliseconds: (clients * 1000) / 5, works: ['new client'] } as const;
    const stats = await startLoad('runAtFixedRate', { port, user: politeUser, ...rate }).report;
    const note = await overload.stop();
    const { served, longestMs } = stats;
    const figures = `${served} of ${clients} new clients served, longest wait ${longestMs.toFixed(0)} ms`;
    return { verdict: { holds: served === clients && longestMs <= 3000, figures }, stats, notes: [note] };
  };
  return { name: `${connections} clients send ${name}, then ${clients} new clients`, run };
}

function stall(port: number, connections: number, text: string, { reads = true, times = 1 } = {}): Promise<Overload> {
  const load = startLoad('sendAndStall', { port, connections, text, reads, times });
  return untilReady(load, (open) => `${open} of ${connections} connections were open at the end`);
}

const stalledText = {
  nothing: '',
  'half a header': requestHead('GET', '/plants', greedyUser),
  'one byte of a body': `${requestHead('POST', '/plants', greedyUser)}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
};

/** The first page of the list has 43 KB, which the operating system buffers. All other pages have the maximum size. */
const largePages = { plants: [40_000, 0], hasLongNames: true } as const;

/** Many clients read long lists fast. A server with a small heap must survive these requests. */
async function fastReaders({ server }: Context): Promise<Result> {
  const options = { connections: 6000, method: 'GET', target: '/plants', user: greedyUser } as const;
  const stats = await startLoad('requestLists', { port: server.port, ...options, milliseconds: 60_000 }).report;
  const holds = server.isRunning();
  return { verdict: { holds, figures: holds ? 'it survived' : 'it ended' }, stats };
}

/** Each client stops reading a long list after the first pages. The server must not keep a page in memory for each. */
async function stuckReaders({ server, idleBytes }: Context): Promise<Result> {
  const maxGrowthMiB = 150;
  const readers = await stall(server.port, 500, requestText('GET', '/plants', greedyUser), { reads: false });
  await sleep(10_000);
  // The peak also depends on when garbage is collected.
  const growthMiB = ((await server.memory()) - idleBytes) / 2 ** 20;
  const figures = `${growthMiB.toFixed(0)} MiB above idle after a garbage collection, ${maxGrowthMiB} allowed`;
  return { verdict: { holds: growthMiB <= maxGrowthMiB, figures }, notes: [await readers.stop()] };
}

export const scenarios: readonly Scenario[] = [
  clientsOfOneUser('list 20', 2000),
  clientsOfOneUser('create', 5000),
  besidePoliteUser('100 clients pipeline 1000 × GET /plants?limit=1000 without reading', (port) =>
    stall(port, 100, requestText('GET', '/plants?limit=1000', greedyUser), { reads: false, times: 1000 }),
  ),
  // Each HEAD request makes the server read the list twice and costs the client almost nothing.
  requestLists('HEAD', 1000, '/plants?limit=2147483647', [300_000, 5000]),
  requestLists('GET', 900, '/plants', [20_000, 5000]),
  {
    name: '6000 fast readers of 40,000 plants, a heap of 512 MB',
    ...largePages,
    nodeOptions: ['--max-old-space-size=512'],
    run: fastReaders,
  },
  ...Object.entries(stalledText).map(([what, text]) => thenNewClients(what, text)),
  { name: '500 clients stop reading a list of 40,000 plants', ...largePages, run: stuckReaders },
];
