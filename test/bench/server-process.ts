import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { untilListening } from '../support/server-process.ts';

/** The resources that a process uses. */
export interface Usage {
  /** The user and system time of all threads since the process started, in microseconds. */
  readonly cpuMicros: number;
  /** The largest resident memory of the process so far. */
  readonly peakMiB: number;
  /** The 99th percentile of the event loop's delay since the previous report, in milliseconds. */
  readonly loopDelayMs: number;
}

/** A server in its own process. */
export interface ServerProcess {
  readonly port: number;
  usage(): Promise<Usage>;
  stop(): Promise<unknown>;
}

const reportUsage = fileURLToPath(new URL('report-usage.js', import.meta.url));

/** Runs a Node.js program in the root folder of the project, and waits until the program prints its URL. */
export async function startServerProcess(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<ServerProcess> {
  const child = spawn(process.execPath, ['--import', reportUsage, ...args], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  // No clean-up is necessary, because report-usage.js ends the server when this process ends.
  const { port, stop } = await untilListening({ after: () => undefined }, child, /(http:\/\/\S+?)\/?\n/);
  return {
    port,
    stop,
    usage: async () => {
      const reported = once(child, 'message') as Promise<[Usage]>;
      child.send('usage');
      return (await reported)[0];
    },
  };
}
