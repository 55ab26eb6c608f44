import { setTimeout as sleep } from 'node:timers/promises';
import { creatingUser, tokenOf } from '../../bench/data-set.ts';
import { runRegularClients } from '../regular-clients.ts';
import { describeExit } from '../measure-row.ts';
import type { ScenarioContext, ScenarioRunner } from '../scenario-runner.ts';
import { ServerUnderLoad } from '../server.ts';

/** The server gets SIGTERM while clients create plants. Another server then lists the plants. */
export async function termination(runner: ScenarioRunner): Promise<void> {
  await runner.run('64 clients create, and the server gets SIGTERM', async (context) => {
    const creating = runRegularClients(context.port, 5000);
    await sleep(2500);
    const exit = await context.server.stop();
    const stats = await creating;
    const stored = await plantsAfterRestart(context);
    const lost = stats.created.filter((id) => !stored.has(id)).length;
    const notAcknowledged = [...stats.unknown, ...stats.refused];
    const effective = notAcknowledged.filter((id) => stored.has(id)).length;
    return {
      stats,
      health: `${describeExit(exit)} after ${exit.seconds.toFixed(2)} s`,
      notes: [
        `${lost} of ${stats.created.length} acknowledged plants are lost`,
        `${effective} of ${notAcknowledged.length} requests without an acknowledgment took effect`,
      ],
    };
  });
}

/** Returns the ids of the stored plants, which are their names. */
async function plantsAfterRestart(context: ScenarioContext): Promise<Set<number>> {
  const server = await ServerUnderLoad.start(context);
  const headers = { authorization: `Bearer ${tokenOf(creatingUser)}` };
  const response = await fetch(`http://127.0.0.1:${server.port}/plants`, { headers });
  const plants = (await response.json()) as { name: string }[];
  await server.stop();
  return new Set(plants.map(({ name }) => Number(name)));
}
