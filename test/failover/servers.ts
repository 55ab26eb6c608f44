import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printedUrl } from '../bench/printed-url.ts';

/** A `plant-store serve` process of the built package. */
export interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

const main = fileURLToPath(new URL('../../dist/tools/cli/main.js', import.meta.url));

/** Starts one server for each connection string, with the tokens file `tokens.json` and the logs in the folder. */
export async function startServers(folder: string, storages: readonly string[]): Promise<Server[]> {
  const children = storages.map((storage, index) => spawnServer(folder, storage, `server${index + 1}.log`));
  const servers: Server[] = [];
  for (const child of children) {
    const url = await printedUrl(child);
    if (url === undefined) throw new Error(`A server did not start. The logs are in ${folder}`);
    servers.push({ url, stop: () => stop(child) });
  }
  return servers;
}

function spawnServer(folder: string, storage: string, log: string): ChildProcess {
  const output = openSync(join(folder, log), 'a');
  const args = [main, 'serve', '--port', '0', '--tokens', 'tokens.json', '--log', 'json'];
  // The connection string is in the environment, because every user can list the arguments of a process.
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', output],
    env: { ...process.env, PLANT_STORE_STORAGE: storage },
  });
  closeSync(output);
  process.once('exit', () => child.kill('SIGKILL'));
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
