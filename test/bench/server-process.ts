import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { printedUrl } from './printed-url.ts';

/** The resources that a process uses. */
export interface Usage {
  /** User and system time of all its threads since it started, in microseconds. */
  readonly cpuMicros: number;
  /** Its largest resident memory so far. */
  readonly peakMiB: number;
  /** The 99th percentile of the event loop's delay since the previous report, in milliseconds. */
  readonly loopDelayMs: number;
}

/** A server in its own process. */
export interface ServerProcess {
  readonly port: number;
  usage(): Promise<Usage>;
  stop(): Promise<void>;
}

const reportUsage = fileURLToPath(new URL('report-usage.js', import.meta.url));

/** Runs a Node.js program in the root of the project, and waits until it prints its URL. */
export async function startServerProcess(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<ServerProcess> {
  const child = spawn(process.execPath, ['--import', reportUsage, ...args], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const url = await printedUrl(child);
  if (url === undefined) throw new Error(`${args.join(' ')} did not start.`);
  return {
    port: Number(new URL(url).port),
    usage: async () => {
      const reported = once(child, 'message') as Promise<[Usage]>;
      child.send('usage');
      return (await reported)[0];
    },
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
