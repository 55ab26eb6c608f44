import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { creatingUser, tokenIdOf } from '../../bench/data-set.ts';
import { runRegularClients } from '../regular-clients.ts';
import type { ScenarioContext, ScenarioRunner } from '../scenario-runner.ts';

/** A token is revoked on the command line while clients use it. */
export async function revocation(runner: ScenarioRunner): Promise<void> {
  await runner.run('64 clients create, and their token is revoked', async (context) => {
    const creating = runRegularClients(context.port, 6000);
    await sleep(2500);
    const start = Date.now();
    await revokeToken(context);
    const end = Date.now();
    const stats = await creating;
    const seconds = (time: number): string => ((time - start) / 1000).toFixed(2);
    const last = `the last 200 response arrived ${seconds(stats.lastServedAt)} s after the command was started`;
    return { stats, notes: [`${last}; the command took ${seconds(end)} s`] };
  });
}

/** Revokes the token of the user who creates plants. */
export async function revokeToken({ dist, tokens }: ScenarioContext): Promise<void> {
  const args = [join(dist, 'tools/cli/main.js'), 'token', 'revoke', tokenIdOf(creatingUser), '--tokens', tokens];
  const [code] = (await once(spawn(process.execPath, args, { stdio: 'ignore' }), 'exit')) as [number | null];
  if (code !== 0) throw new Error('token revoke failed.');
}
