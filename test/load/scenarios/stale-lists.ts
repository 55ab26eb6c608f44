import { otherUsers } from '../../bench/data-set.ts';
import { startLoad } from '../clients/start-load.ts';
import type { ScenarioRunner } from '../scenario-runner.ts';
import { ServerUnderLoad } from '../server.ts';
import { createDatabase, greedyUser } from './two-users.ts';

const connections = 4000;
const delayMs = 5000;
const probeMs = 60_000;
const probers = otherUsers.slice(0, 32);
/** Every fourth connection lists the plants of a prober, so that the server caches them. */
const listedUsers = [...probers, ...probers.flatMap(() => [greedyUser, greedyUser, greedyUser])];

/**
 * Two servers use one SQLite file, and clients keep the second busy with lists. After the first server has acknowledged
 * a plant, each list from the second must contain the plant.
 */
export async function staleLists(runner: ScenarioRunner): Promise<void> {
  const database = await createDatabase(runner.folder, 1000, 0);
  await runner.run(
    `4,000 clients list 20 from one of two servers on a file, ${probers.length} create through the other and list`,
    async (context) => {
      const other = await ServerUnderLoad.start(context);
      try {
        const { port } = context;
        const probes = { createPort: other.port, listPort: port, users: probers, delayMs, milliseconds: probeMs };
        const probing = startLoad('probeFreshness', probes);
        await probing.ready;
        const options = {
          connections,
          milliseconds: delayMs + probeMs,
          work: 'first page',
          users: listedUsers,
        } as const;
        const busy = startLoad('runClosedLoop', { port, ...options });
        const { lists, stale, failed } = await probing.report;
        return {
          verdict: { holds: lists > 0 && stale === 0, figures: `${stale} of ${lists} lists are stale` },
          stats: await busy.report,
          notes: [`${failed} requests to create or list failed`],
        };
      } finally {
        await other.stop();
      }
    },
    { database },
  );
}
