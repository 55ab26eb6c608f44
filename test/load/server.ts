import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { untilListening } from '../support/server-process.ts';
import type { ServerProcess } from '../support/server-process.ts';
import type { HasAfter } from '../support/temporary-folder.ts';
import { residentBytes } from './process-figures.ts';

export interface ServerOptions {
  /** The folder of the built package. */
  readonly dist: string;
  /** The folder for the log, `plants.db` and `tokens.json`. */
  readonly folder: string;
  /** Additional options for Node.js. */
  readonly nodeOptions?: readonly string[];
}

/** A process that runs `plant-store serve` from the built package. */
export interface ServerUnderLoad extends ServerProcess {
  /** Collects garbage, then returns the resident memory in bytes. */
  readonly memory: () => Promise<number>;
  /** Returns all log entries whose level is not info. */
  readonly faults: () => string[];
}

const collectGarbage = fileURLToPath(new URL('collect-garbage.ts', import.meta.url));

export async function startServer(
  t: HasAfter,
  { dist, folder, nodeOptions = [] }: ServerOptions,
): Promise<ServerUnderLoad> {
  const logPath = join(folder, 'log.ndjson');
  const log = openSync(logPath, 'a');
  const files = ['--tokens', join(folder, 'tokens.json'), '--storage', `sqlite:${join(folder, 'plants.db')}`];
  const serve = [join(dist, 'tools/cli/main.js'), 'serve', '--port', '0', '--log', 'json', ...files];
  const child = spawn(process.execPath, [...nodeOptions, '--expose-gc', '--import', collectGarbage, ...serve], {
    stdio: ['ignore', 'pipe', log, 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  closeSync(log);
  const server = await untilListening(t, child, /^Plant Store listening on (\S+)\n/m);
  return {
    ...server,
    memory: async () => {
      const collected = once(child, 'message');
      child.send('collect', () => undefined);
      await Promise.race([collected, sleep(10_000, undefined, { ref: false })]);
      // The process returns freed memory to the system only after a short delay.
      await sleep(500);
      return residentBytes(server.pid);
    },
    faults: () =>
      readFileSync(logPath, 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !line.includes('"level":"info"')),
  };
}
