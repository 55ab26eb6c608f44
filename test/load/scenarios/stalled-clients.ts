import { setTimeout as sleep } from 'node:timers/promises';
import { requestHead } from '../../bench/requests.ts';
import { startLoad } from '../clients/start-load.ts';
import type { ScenarioResult, ScenarioRunner } from '../scenario-runner.ts';
import { describeArrivals } from './few-files.ts';
import { startReaders } from './hostile-readers.ts';
import { greedyUser, politeUser } from './two-users.ts';

// More clients than the server accepts keep their connections busy with a request that makes no progress. New clients
// of another user must still be served, each within 3 seconds.

const newClients = 20;
const maxWaitMs = 3000;
const stalledMs = 60_000;

/** Clients without a valid token read a file of the documentation page slowly. */
export async function slowDocsReaders(runner: ScenarioRunner, connections: number): Promise<void> {
  const scenario = `${connections.toLocaleString('en-US')} clients without a valid token read a file of /docs slowly`;
  await runner.run(
    `${scenario}, then 20 new clients`,
    async ({ port }) => {
      const target = '/docs/swagger-ui-bundle.js';
      const readers = await startReaders({ port, connections, bytesPerSecond: 200, target, user: 'nobody' });
      const result = await serveNewClients(port);
      await readers.stop();
      return { ...result, notes: [readers.note, ...(result.notes ?? [])] };
    },
    { serveOptions: ['--docs'] },
  );
}

/** Clients with a token send the header and one byte of the body of a request to create a plant. */
export async function stalledBodies(runner: ScenarioRunner, connections: number): Promise<void> {
  const scenario = `${connections.toLocaleString('en-US')} clients send one byte of a body, then 20 new clients`;
  await runner.run(scenario, async ({ port }) => {
    const head = `${requestHead('POST', '/plants', greedyUser)}Content-Type: application/json\r\n`;
    const text = `${head}Content-Length: 100\r\n\r\n{`;
    const stalled = startLoad('sendAndStall', { port, connections, text, milliseconds: stalledMs });
    await stalled.ready;
    const result = await serveNewClients(port);
    stalled.stop();
    const note = `${await stalled.report} of ${connections} stalled connections were open at the end`;
    return { ...result, notes: [note, ...(result.notes ?? [])] };
  });
}

async function serveNewClients(port: number): Promise<ScenarioResult> {
  const options = { clients: newClients, everyMs: 200, user: politeUser };
  const arrived = await startLoad('arriveOneByOne', { port, ...options }).report;
  const served = arrived.statuses[200] ?? 0;
  return {
    verdict: {
      holds: served === newClients && arrived.longestMs <= maxWaitMs,
      figures: `${served} of ${newClients} new clients served, longest wait ${arrived.longestMs.toFixed(0)} ms`,
    },
    notes: [`new clients: ${describeArrivals(arrived)}`],
  };
}

/** As many clients as the admin port accepts send an incomplete header. A health check must still succeed. */
export async function stalledAdminPort(runner: ScenarioRunner): Promise<void> {
  await runner.run(
    '8 incomplete headers on the admin port, then GET /live',
    async ({ server: { adminPort: port = NaN } }) => {
      const text = 'GET /live HTTP/1.1\r\nHost: x\r\n';
      const stalled = startLoad('sendAndStall', { port, connections: 8, text, milliseconds: stalledMs });
      await stalled.ready;
      // The server may wait for a second before it closes a connection to make room.
      await sleep(1500);
      const start = performance.now();
      const status = await fetch(`http://127.0.0.1:${port}/live`, { signal: AbortSignal.timeout(maxWaitMs) }).then(
        (response) => response.status,
        () => undefined,
      );
      const seconds = ((performance.now() - start) / 1000).toFixed(2);
      stalled.stop();
      const outcome = status === undefined ? `no response, closed after ${seconds} s` : `${status} after ${seconds} s`;
      return { verdict: { holds: status === 200, figures: outcome } };
    },
    { serveOptions: ['--admin-port', '0'] },
  );
}
