import { creatingUser } from '../bench/garden.ts';
import { generate } from './generate.ts';
import type { Stage } from './stage.ts';

const crowdMs = 6000;

/** More clients than the server can serve, who all behave. */
export async function crowd(stage: Stage, connections: number, isPatient = false): Promise<void> {
  const how = isPatient ? ', and heed Retry-After' : '';
  await stage.play(`${connections.toLocaleString('en-US')} clients create${how}`, async ({ port }) => {
    const tally = await generate('runLoop', {
      port,
      connections,
      milliseconds: crowdMs,
      work: 'create',
      users: [creatingUser],
      isPatient,
    }).report;
    const notes = [`second by second: ${tally.bySecond.join(' ')}, the slowest answer ${tally.maxMs.toFixed(0)} ms`];
    if (!Number.isNaN(tally.refusedP99Ms)) notes.push(`p99 of the refusals ${tally.refusedP99Ms.toFixed(0)} ms`);
    return { tally, notes };
  });
}

/** Ten times as many requests as it can answer, whether or not it answers. */
export async function offerTenfold(stage: Stage): Promise<void> {
  const { answeredPerSecond } = await stage.baseline();
  const perSecond = Math.round(answeredPerSecond * 10);
  const connections = 1000;
  const scenario = `${perSecond.toLocaleString('en-US')} creates a second offered over ${connections.toLocaleString('en-US')} connections`;
  await stage.play(scenario, async ({ port }) => {
    const tally = await generate('runOpenLoop', {
      port,
      connections,
      milliseconds: 8000,
      perSecond,
      user: creatingUser,
    }).report;
    const { offered, heldBack, refusedP99Ms } = tally;
    return {
      tally,
      notes: [
        `${offered} offered, of which ${heldBack} could not be sent because the server did not read; created second by second: ${tally.bySecond.join(' ')}`,
        ...(Number.isNaN(refusedP99Ms) ? [] : [`p99 of the refusals ${refusedP99Ms.toFixed(0)} ms`]),
      ],
    };
  });
}
