import { creatingUser } from '../bench/garden.ts';
import type { LoopReport } from './closed-loop.ts';
import { describeEnding } from './endings.ts';
import { generate } from './generate.ts';
import type { Scene, Stage } from './stage.ts';

/** For longer than a server holds a connection on which nothing goes on. */
const maxLingerMs = 72_000;
const besideMs = 6000;

/** Connections on which nothing goes on, while others want to be served. */
export async function idleConnections(stage: Stage, connections: number): Promise<void> {
  await linger(stage, `${connections.toLocaleString('en-US')} idle connections, 64 clients create`, ({ port }) =>
    generate('holdIdle', { port, connections, milliseconds: maxLingerMs, user: creatingUser }),
  );
}

/** Requests that come a byte at a time. */
export async function slowSenders(stage: Stage, connections: number): Promise<void> {
  await linger(stage, `${connections.toLocaleString('en-US')} slow senders, 64 clients create`, ({ port }) =>
    generate('sendSlowly', { port, connections, byteEveryMs: 500, milliseconds: maxLingerMs, user: creatingUser }),
  );
}

async function linger(
  stage: Stage,
  scenario: string,
  start: (scene: Scene) => ReturnType<typeof generate<'holdIdle'>>,
): Promise<void> {
  const baseline = await stage.baseline();
  await stage.play(scenario, async (scene) => {
    const lingering = start(scene);
    await lingering.ready;
    const tally = await createBeside(scene, besideMs);
    return {
      tally,
      notes: [comparison(tally, baseline)],
      tail: async () => (await lingering.report).map(describeEnding),
    };
  });
}

/** 64 clients that behave, beside others. */
export function createBeside({ port }: Pick<Scene, 'port'>, milliseconds: number): Promise<LoopReport> {
  return generate('runLoop', { port, connections: 64, milliseconds, work: 'create', users: [creatingUser] }).report;
}

export function comparison(tally: LoopReport, alone: LoopReport): string {
  const before = `alone ${alone.answeredPerSecond.toFixed(0)} a second with a p99 of ${alone.p99Ms.toFixed(1)} ms`;
  return `the good clients second by second: ${tally.bySecond.join(' ')}, the slowest answer ${tally.maxMs.toFixed(0)} ms; ${before}`;
}
