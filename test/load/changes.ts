import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { creatingUser, tokenOf, users } from '../bench/garden.ts';
import { createBeside } from './lingerers.ts';
import { ServerUnderLoad } from './server.ts';
import { describeExit } from './stage.ts';
import type { Scene, Stage } from './stage.ts';

const changeAfterMs = 2500;

/** A token is revoked on the command line while it is in use. */
export async function revocation(stage: Stage): Promise<void> {
  await stage.play('64 clients create, and their token is revoked', async (scene) => {
    const creating = createBeside(scene, 6000);
    await sleep(changeAfterMs);
    const start = Date.now();
    await revoke(scene);
    const end = Date.now();
    const tally = await creating;
    const seconds = (time: number): string => ((time - start) / 1000).toFixed(2);
    return {
      tally,
      notes: [
        `the last 200 came ${seconds(tally.lastAdmittedAt)} s after the command was started, which took ${seconds(end)} s`,
      ],
    };
  });
}

/** Revokes the token of the user who creates. */
export async function revoke({ dist, tokens }: Scene): Promise<void> {
  const id = users.indexOf(creatingUser).toString(16).padStart(16, '0');
  const args = [join(dist, 'cli/main.js'), 'token', 'revoke', id, '--tokens', tokens];
  const [code] = (await once(spawn(process.execPath, args, { stdio: 'ignore' }), 'exit')) as [number | null];
  if (code !== 0) throw new Error('token revoke failed.');
}

/** The server is told to stop while it is in use; what it had acknowledged is then looked for. */
export async function termination(stage: Stage): Promise<void> {
  await stage.play('64 clients create, and the server gets SIGTERM', async (scene) => {
    const creating = createBeside(scene, 5000);
    await sleep(changeAfterMs);
    const exit = await scene.server.stop();
    const tally = await creating;
    const stored = await storedAfterRestart(scene);
    const lost = tally.created.filter((id) => !stored.has(id)).length;
    const unasked = [...tally.unknown, ...tally.refused].filter((id) => stored.has(id)).length;
    return {
      tally,
      health: `${describeExit(exit)} after ${exit.seconds.toFixed(2)} s`,
      notes: [
        `of ${tally.created.length} acknowledged plants ${lost} are lost; of ${tally.unknown.length + tally.refused.length} requests that were not acknowledged ${unasked} had an effect`,
      ],
    };
  });
}

/** The numbers of the plants that a new server finds: they are their names. */
async function storedAfterRestart(scene: Scene): Promise<Set<number>> {
  const server = await ServerUnderLoad.start(scene);
  const headers = { authorization: `Bearer ${tokenOf(creatingUser)}` };
  const response = await fetch(`http://127.0.0.1:${server.port}/plants`, { headers });
  const plants = (await response.json()) as { name: string }[];
  await server.stop();
  return new Set(plants.map(({ name }) => Number(name)));
}
