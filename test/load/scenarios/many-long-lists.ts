import { startLoad } from '../clients/start-load.ts';
import type { ScenarioRunner } from '../scenario-runner.ts';
import { CpuMeter, createDatabase, describeBurst, greedyUser, ms, politeUser } from './two-users.ts';

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
