import { CpuMeter, databaseWith, describeBurst, greedyUser, ms, politeUser } from './beside.ts';
import { generate } from './generate.ts';
import type { Stage } from './stage.ts';

const plants = 20_000;
const lists = 900;
const maxMs = 45_000;

/**
 * One user asks for 900 lists of 20,000 plants each, without a limit, and then another user asks for
 * one such list. Users should take turns, so the one list should take about twice as long as alone,
 * and not as long as all of the 900.
 */
export async function manyLongLists(stage: Stage): Promise<void> {
  const database = await databaseWith(stage.folder, plants, plants);
  await stage.play(
    `900 lists of 20,000 plants of one user, one such list of another`,
    async ({ server, port }) => {
      const ask = (user: string, connections: number): ReturnType<typeof generate<'burst'>> =>
        generate('burst', { port, connections, method: 'GET', target: '/plants', user, milliseconds: maxMs });
      const alone = await ask(politeUser, 1).report;
      const cpu = new CpuMeter(server);
      const many = ask(greedyUser, lists);
      await many.ready;
      const beside = await ask(politeUser, 1).report;
      return {
        notes: [
          `the one list: ${ms(alone.waitsMs[0])} alone, ${ms(beside.waitsMs[0])} beside the 900`,
          `the 900 lists: ${describeBurst(await many.report)}`,
          `the server used ${cpu.describe()}`,
        ],
      };
    },
    { database },
  );
}
