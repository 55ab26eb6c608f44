import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What a process has used since it began. */
export interface Usage {
  /** User and system time of all its threads, in microseconds. */
  readonly cpuMicros: number;
  /** Its resident memory now, in bytes. */
  readonly rssBytes: number;
}

/** A server in a process of its own. */
export interface ServerProcess {
  readonly port: number;
  usage(): Promise<Usage>;
  stop(): Promise<void>;
}

const reportUsage = fileURLToPath(new URL('report-usage.js', import.meta.url));

/** Starts a Node program, in the folder of the project, that prints the URL it listens on. */
export async function startServerProcess(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<ServerProcess> {
  const child = spawn(process.execPath, ['--import', reportUsage, ...args], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const port = await new Promise<number>((resolve, reject) => {
    let printed = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const found = /http:\/\/[^\s/]+:(\d+)/.exec(printed)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
    child.once('exit', () => {
      reject(new Error(`${args.join(' ')} did not start: ${printed}`));
    });
  });
  return {
    port,
    usage: async () => {
      const answered = once(child, 'message') as Promise<[Usage]>;
      child.send('usage');
      return (await answered)[0];
    },
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
