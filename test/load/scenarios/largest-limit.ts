import { setTimeout as sleep } from 'node:timers/promises';
import type { FixedRateReport } from '../clients/fixed-rate.ts';
import { startLoad } from '../clients/start-load.ts';
import type { RunningLoad } from '../clients/start-load.ts';
import type { ScenarioContext, ScenarioResult, ScenarioRunner } from '../scenario-runner.ts';
import { CpuMeter, createDatabase, describeBurst, describeFixedRate, greedyUser, ms, politeUser } from './two-users.ts';

// One user with 300,000 plants requests lists with the maximum limit. The server must read such a list
// twice, and keeps its ids while it sends it. Meanwhile, another user creates plants and lists 20 and
// 2000 of them at a fixed rate. The responses to this user should be as fast as without the first user.

const plants = 300_000;
const target = '/plants?limit=2147483647';
const measuredMs = 20_000;
const perSecond = 60;

/** Many HEAD requests: each makes the server read the list, and costs the client almost nothing. */
export async function largestLimitHeads(runner: ScenarioRunner): Promise<void> {
  await runBesidePoliteUser(runner, `1,000 × HEAD ${target} of 300,000 plants`, async ({ server, port }, polite) => {
    const cpu = new CpuMeter(server);
    const options = { connections: 1000, method: 'HEAD', target, user: greedyUser } as const;
    const heads = startLoad('sendBurst', { port, ...options, milliseconds: measuredMs + 10_000 });
    const politeReport = await polite.report;
    const cpuMeanwhile = cpu.describe();
    return resultOf(politeReport, [
      `HEAD requests: ${describeBurst(await heads.report)}`,
      `the server used ${cpuMeanwhile} during the requests of the other user, ${cpu.describe()} in total`,
    ]);
  });
}

/**
 * Sends about 640 GET requests per second, which is 63 KB per second. Each uses the next of many
 * connections, so that more of them are in progress than `maxInFlight` allows. Discards the responses.
 */
export async function largestLimitByteRate(runner: ScenarioRunner): Promise<void> {
  const scenario = `GET ${target} of 300,000 plants sent at 63 KB/s over 2,000 connections`;
  await runBesidePoliteUser(runner, scenario, async ({ server, port }, polite) => {
    const cpu = new CpuMeter(server);
    const options = { connections: 2000, target, user: greedyUser, milliseconds: measuredMs, bytesPerSecond: 63_000 };
    const { requests, statuses } = await startLoad('sendAtByteRate', { port, ...options }).report;
    return resultOf(await polite.report, [
      `${requests} GET requests sent; responses by status: ${JSON.stringify(statuses)}`,
      `the server used ${cpu.describe()}`,
    ]);
  });
}

/** Clients that send a request and disconnect at once: the server should stop reading for them. */
export async function largestLimitDisconnects(runner: ScenarioRunner): Promise<void> {
  const scenario = `300 clients send GET ${target} of 300,000 plants and disconnect`;
  await runBesidePoliteUser(runner, scenario, async ({ server, port }, polite) => {
    const cpu = new CpuMeter(server);
    const options = { connections: 300, target, user: greedyUser, stayMs: 100 };
    const clients = startLoad('sendAndDisconnect', { port, ...options });
    await clients.ready;
    const cpuBefore = cpu.seconds();
    const cpuAfter = new CpuMeter(server);
    await clients.report;
    const politeReport = await polite.report;
    await sleep(1000);
    return resultOf(politeReport, [
      `the server used ${cpuBefore.toFixed(1)} s of CPU before they disconnected, ${cpuAfter.describe()} after that`,
    ]);
  });
}

async function runBesidePoliteUser(
  runner: ScenarioRunner,
  scenario: string,
  work: (context: ScenarioContext, polite: RunningLoad<FixedRateReport>) => Promise<ScenarioResult>,
): Promise<void> {
  const database = await createDatabase(runner.folder, plants, 5000);
  await runner.run(
    `${scenario}, another user at ${perSecond} per second`,
    async (context) => {
      const alone = await describeAlone(context);
      const polite = startPoliteUser(context.port, measuredMs);
      await polite.ready;
      await sleep(500);
      const { notes = [], ...others } = await work(context, polite);
      return { ...others, notes: [...notes, alone] };
    },
    { database },
  );
}

/** Measures the other user alone, for comparison. */
async function describeAlone({ server, port }: ScenarioContext): Promise<string> {
  const cpu = new CpuMeter(server);
  const { all } = await startPoliteUser(port, 4000).report;
  return `before that, the other user alone: p99 ${ms(all.p99Ms)}, ${cpu.describe()}`;
}

function startPoliteUser(port: number, milliseconds: number): RunningLoad<FixedRateReport> {
  const works = ['create', 'list 20', 'list 2000'] as const;
  return startLoad('runAtFixedRate', { port, user: politeUser, perSecond, milliseconds, works });
}

function resultOf(polite: FixedRateReport, notes: readonly string[]): ScenarioResult {
  return { stats: polite.all, notes: [...describeFixedRate(polite), ...notes] };
}
