import { setTimeout as sleep } from 'node:timers/promises';
import { creatingUser, otherUsers, tokenOf } from '../bench/data-set.ts';
import { requestHead, requestText } from '../bench/requests.ts';
import { besidePoliteUser } from './beside-polite-user.ts';
import type { Overload } from './beside-polite-user.ts';
import type { StatsReport } from './clients/response-stats.ts';
import { startLoad } from './clients/start-load.ts';
import type { RunningLoad } from './clients/start-load.ts';
import { greedyUser, politeUser } from './run-scenario.ts';
import type { Context, Result, Scenario } from './run-scenario.ts';
import { startSlowReaders } from './slow-readers.ts';
import { describeRefused } from './table.ts';

const largestLimit = '/plants?limit=2147483647';

/** Waits until a load is ready, and stops it at the end. */
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

/** Regular clients only, none of which behaves badly. */
function clientsCreate(connections: number): Scenario {
  return {
    name: `${connections} clients create`,
    run: async ({ port }) => {
      const options = { connections, milliseconds: 6000, work: 'create', users: [creatingUser] } as const;
      const stats = await startLoad('runClosedLoop', { port, ...options }).report;
      return { stats, notes: [`served in each second: ${stats.bySecond.join(' ')}`] };
    },
  };
}

/**
 * A user has 30 plants whose names are 10,800 control characters each. JSON needs six bytes for each of these, so the
 * list has 1.9 MB. The server should not keep a copy for each client that requests it and reads it slowly or never.
 */
function hostileReaders(connections: number, bytesPerSecond: number): Scenario {
  const name = `${connections} clients read ${bytesPerSecond} bytes per second of 1.9 MB of control characters`;
  const start = async ({ port }: Context): Promise<Overload> => {
    const headers = { authorization: `Bearer ${tokenOf(greedyUser)}`, 'content-type': 'application/json' };
    for (let id = 1; id <= 30; id++) {
      const body = JSON.stringify({ id, name: '\u0001'.repeat(10_800) });
      const { status } = await fetch(`http://127.0.0.1:${port}/plants`, { method: 'POST', headers, body });
      if (status !== 200) throw new Error(`Creating a long name failed with status ${status}.`);
    }
    return startSlowReaders({ port, connections, bytesPerSecond, target: '/plants', user: greedyUser });
  };
  return besidePoliteUser({ name, start, maxGrowthMiB: 150 }, { plants: [0, 5000] });
}

/** More clients than the server accepts make no progress. New clients of another user must be served within 3 seconds. */
function thenNewClients(name: string, start: (context: Context) => Promise<Overload>, settings = {}): Scenario {
  const clients = 20;
  const run = async (context: Context): Promise<Result> => {
    const overload = await start(context);
    const rate = { perSecond: 5, milliseconds: (clients * 1000) / 5, works: ['new client'] } as const;
    const stats = await startLoad('runAtFixedRate', { port: context.port, user: politeUser, ...rate }).report;
    const note = await overload.stop();
    const { served, longestMs } = stats;
    const figures = `${served} of ${clients} new clients served, longest wait ${longestMs.toFixed(0)} ms`;
    return { verdict: { holds: served === clients && longestMs <= 3000, figures }, stats, notes: [note] };
  };
  return { name: `${name}, then ${clients} new clients`, ...settings, run };
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

/** As many clients as the admin port accepts send an incomplete header. A health check must still succeed. */
async function checkAdminPort({ server: { adminPort: port = NaN } }: Context): Promise<Result> {
  const stalled = await stall(port, 8, 'GET /live HTTP/1.1\r\nHost: x\r\n');
  // The server may wait for a second before it closes a connection to make room.
  await sleep(1500);
  const start = performance.now();
  const signal = AbortSignal.timeout(3000);
  const status = await fetch(`http://127.0.0.1:${port}/live`, { signal }).then(
    (response) => response.status,
    () => 'no response',
  );
  const figures = `${status} after ${((performance.now() - start) / 1000).toFixed(2)} s`;
  return { verdict: { holds: status === 200, figures }, notes: [await stalled.stop()] };
}

/**
 * One user requests 900 lists of 20,000 plants, without a limit, then another user requests one such list. The server
 * serves users in turn, so the one list must take less than a tenth of the time of the 900.
 */
async function manyLongLists({ port }: Context): Promise<Result> {
  const list = (user: string, connections: number): RunningLoad<StatsReport> =>
    startLoad('requestLists', { port, connections, method: 'GET', target: '/plants', user, milliseconds: 60_000 });
  const alone = await list(politeUser, 1).report;
  const many = list(greedyUser, 900);
  await many.ready;
  const contended = await list(politeUser, 1).report;
  const stats = await many.report;
  const [aloneMs, oneMs, allMs] = [alone, contended, stats].map(({ longestMs }) => longestMs.toFixed(0));
  const holds = contended.served === 1 && contended.longestMs < stats.longestMs / 10;
  return {
    verdict: { holds, figures: `the one list took ${oneMs} ms, alone ${aloneMs} ms, the 900 ${allMs} ms` },
    stats,
  };
}

/** The first page of the list has 43 KB, which the system buffers. Each other page is as large as a page can be. */
const largePages = { plants: [40_000, 1000], hasLongNames: true } as const;

/** Many clients read fast. A server with a small heap must survive that. */
async function fastReaders({ server, port }: Context): Promise<Result> {
  const options = { connections: 6000, method: 'GET', target: '/plants', user: greedyUser } as const;
  const stats = await startLoad('requestLists', { port, ...options, milliseconds: 60_000 }).report;
  return { verdict: { holds: server.isRunning, figures: server.isRunning ? 'it survived' : 'it ended' }, stats };
}

/** Clients stop reading after the first pages, so that each waits for a different page. The server must not keep them. */
async function stuckReaders({ server, port, idle }: Context): Promise<Result> {
  const maxGrowthMiB = 150;
  const readers = await stall(port, 500, requestText('GET', '/plants', greedyUser), { reads: false });
  await sleep(10_000);
  // The peak also depends on when garbage is collected.
  const growthMiB = ((await server.memory()).residentBytes - idle.residentBytes) / 2 ** 20;
  const figures = `${growthMiB.toFixed(0)} MiB above idle after a garbage collection, ${maxGrowthMiB} allowed`;
  return { verdict: { holds: growthMiB <= maxGrowthMiB, figures }, notes: [await readers.stop()] };
}

/**
 * Two servers use one file, and clients keep the second busy with lists. After the first server has acknowledged a
 * plant, each list from the second must contain the plant.
 */
async function staleLists({ port, startOther }: Context): Promise<Result> {
  const probers = otherUsers.slice(1, 33);
  const [delayMs, milliseconds] = [5000, 60_000];
  const other = await startOther();
  try {
    const options = { port: other.port, listPort: port, users: probers, delayMs, milliseconds };
    const probing = startLoad('probeFreshness', options);
    await probing.ready;
    // Every fourth connection lists the plants of a prober, so that the server caches them.
    const users = [...probers, ...probers.flatMap(() => [greedyUser, greedyUser, greedyUser])];
    const busy = { connections: 4000, milliseconds: delayMs + milliseconds, work: 'first page', users } as const;
    const busyReport = startLoad('runClosedLoop', { port, ...busy }).report;
    const { lists, stale, failed } = await probing.report;
    const verdict = { holds: lists > 0 && stale === 0, figures: `${stale} of ${lists} lists are stale` };
    return { verdict, stats: await busyReport, notes: [`${failed} requests to create or list failed`] };
  } finally {
    await other.stop();
  }
}

export const scenarios: readonly Scenario[] = [
  clientsCreate(64),
  clientsCreate(5000),
  besidePoliteUser({
    name: '2000 clients of one user list 20',
    start: async ({ server, port }) => {
      const before = server.watch.openFiles();
      const options = { connections: 2000, work: 'list 20', users: [greedyUser], milliseconds: 60_000 } as const;
      const clients = await untilReady(startLoad('runClosedLoop', { port, ...options }), describe);
      await server.accepted(before + options.connections);
      return clients;
    },
  }),
  besidePoliteUser({
    name: '100 clients pipeline 1000 × GET /plants?limit=1000 without reading',
    start: ({ port }) =>
      stall(port, 100, requestText('GET', '/plants?limit=1000', greedyUser), { reads: false, times: 1000 }),
  }),
  besidePoliteUser(
    {
      // Each makes the server read the list twice, and costs the client almost nothing.
      name: `1000 × HEAD ${largestLimit} of 300,000 plants`,
      start: ({ port }) => {
        const options = { connections: 1000, method: 'HEAD', target: largestLimit, user: greedyUser } as const;
        return untilReady(startLoad('requestLists', { port, ...options, milliseconds: 30_000 }), describe);
      },
    },
    { plants: [300_000, 5000] },
  ),
  besidePoliteUser(
    {
      // The server should stop reading for them. The column CPU shows it.
      name: `300 clients send GET ${largestLimit} of 300,000 plants and disconnect`,
      start: ({ port }) => {
        const options = { connections: 300, text: requestText('GET', largestLimit, greedyUser), reads: false };
        const load = startLoad('sendAndStall', { port, ...options, stayMs: 100 });
        return untilReady(load, (open) => `${open} connections were open before that`);
      },
    },
    { plants: [300_000, 5000] },
  ),
  hostileReaders(2000, 0),
  hostileReaders(2000, 200),
  ...Object.entries(stalledText).map(([what, text]) =>
    thenNewClients(`10,500 clients send ${what}`, ({ port }) => stall(port, 10_500, text)),
  ),
  thenNewClients(
    '11,000 clients without a valid token read a file of /docs slowly',
    ({ port }) => {
      const target = '/docs/swagger-ui-bundle.js';
      return startSlowReaders({ port, connections: 11_000, bytesPerSecond: 200, target, user: 'nobody' });
    },
    { serveOptions: ['--docs'] },
  ),
  { name: '8 clients send half a header to the admin port', serveOptions: ['--admin-port', '0'], run: checkAdminPort },
  { name: '900 long lists of one user, one of another', plants: [20_000, 20_000], run: manyLongLists },
  {
    name: '6000 fast readers of 40,000 plants, a heap of 512 MB',
    ...largePages,
    nodeOptions: ['--max-old-space-size=512'],
    run: fastReaders,
  },
  { name: '500 clients stop reading a list of 40,000 plants', ...largePages, run: stuckReaders },
  { name: 'stale lists: 4000 clients of one of two servers on a file', plants: [1000, 0], run: staleLists },
];
