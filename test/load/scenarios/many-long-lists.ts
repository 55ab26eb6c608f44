import { startLoad } from '../clients/start-load.ts';
import type { ScenarioRunner } from '../scenario-runner.ts';
import { CpuMeter, createDatabase, describeBurst, describeFixedRate, greedyUser, ms, politeUser } from './two-users.ts';

const plants = 20_000;
const lists = 900;
const maxMs = 45_000;

/**
 * One user requests 900 lists of 20,000 plants each, without a limit, then another user requests one
 * such list. The server should serve users in turn. The one list should then take about twice as long
 * as alone, and not as long as all of the 900.
 */
export async function manyLongLists(runner: ScenarioRunner): Promise<void> {
  const database = await createDatabase(runner.folder, plants, plants);
  await runner.run(
    `900 lists of 20,000 plants of one user, one such list of another`,
    async ({ server, port }) => {
      const list = (user: string, connections: number): ReturnType<typeof startLoad<'sendBurst'>> =>
        startLoad('sendBurst', { port, connections, method: 'GET', target: '/plants', user, milliseconds: maxMs });
      const alone = await list(politeUser, 1).report;
      const cpu = new CpuMeter(server);
      const many = list(greedyUser, lists);
      await many.ready;
      const contended = await list(politeUser, 1).report;
      return {
        notes: [
          `the one list: ${ms(alone.waitsMs[0])} alone, ${ms(contended.waitsMs[0])} with the 900`,
          `the 900 lists: ${describeBurst(await many.report)}`,
          `the server used ${cpu.describe()}`,
        ],
      };
    },
    { database },
  );
}

const perSecond = 10;
const maxP99Ms = 1000;

/**
 * One user requests short lists over many connections. Another user requests short lists, and lists of 2000 plants,
 * which need more than one page. This user should not wait for the many requests.
 */
export async function manyShortLists(runner: ScenarioRunner, connections: number): Promise<void> {
  const database = await createDatabase(runner.folder, 1000, 5000);
  await runner.run(
    `${connections.toLocaleString('en-US')} clients of one user list 20, another user at ${perSecond} per second`,
    async ({ server, port }) => {
      const list = (milliseconds: number): ReturnType<typeof startLoad<'runAtFixedRate'>> => {
        const options = { perSecond, works: ['list 20', 'list 2000'], user: politeUser } as const;
        return startLoad('runAtFixedRate', { port, ...options, milliseconds });
      };
      const alone = await list(4000).report;
      const options = { connections, work: 'list 20', users: [greedyUser] } as const;
      const filesBefore = server.watch.openFiles();
      const many = startLoad('runClosedLoop', { port, ...options, milliseconds: 60_000 });
      await many.ready;
      await server.accepted(filesBefore + connections);
      const polite = await list(10_000).report;
      many.stop();
      const { servedPerSecond, statuses } = await many.report;
      const { failed, sent, all } = polite;
      return {
        verdict: {
          holds: failed === 0 && all.p99Ms <= maxP99Ms,
          figures: `${failed} of ${sent} requests failed, p99 ${ms(all.p99Ms)}, alone ${ms(alone.all.p99Ms)}`,
        },
        stats: all,
        notes: [
          ...describeFixedRate(polite),
          `the other clients: ${servedPerSecond.toFixed(0)} per second, by status: ${JSON.stringify(statuses)}`,
        ],
      };
    },
    { database },
  );
}
