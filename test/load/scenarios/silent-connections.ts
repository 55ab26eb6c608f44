import { creatingUser } from '../../bench/data-set.ts';
import { describeConnectionEnd } from '../clients/connection-ends.ts';
import { startLoad } from '../clients/start-load.ts';
import { describeRegularClients, runRegularClients } from '../regular-clients.ts';
import type { ScenarioContext, ScenarioRunner } from '../scenario-runner.ts';

/** Longer than any timeout of the server. */
const maxMs = 72_000;
const measuredMs = 6000;

/** Idle connections of three kinds, and regular clients. */
export async function idleConnections(runner: ScenarioRunner, connections: number): Promise<void> {
  await runWithSilentConnections(runner, `${connections.toLocaleString('en-US')} idle connections`, ({ port }) =>
    startLoad('holdIdle', { port, connections, milliseconds: maxMs, user: creatingUser }),
  );
}

/** Requests that are sent one byte at a time, and regular clients. */
export async function slowSenders(runner: ScenarioRunner, connections: number): Promise<void> {
  await runWithSilentConnections(runner, `${connections.toLocaleString('en-US')} slow senders`, ({ port }) =>
    startLoad('sendSlowly', { port, connections, byteEveryMs: 500, milliseconds: maxMs, user: creatingUser }),
  );
}

async function runWithSilentConnections(
  runner: ScenarioRunner,
  scenario: string,
  start: (context: ScenarioContext) => ReturnType<typeof startLoad<'holdIdle'>>,
): Promise<void> {
  const baseline = await runner.baseline();
  await runner.run(`${scenario}, 64 clients create`, async (context) => {
    const silent = start(context);
    await silent.ready;
    const stats = await runRegularClients(context.port, measuredMs);
    return {
      stats,
      notes: [describeRegularClients(stats, baseline)],
      laterNotes: async () => (await silent.report).map(describeConnectionEnd),
    };
  });
}
