import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { requestText } from '../bench/requests.ts';
import type { Overload } from './beside-polite-user.ts';

export interface ReaderOptions {
  readonly port: number;
  readonly connections: number;
  /** 0 if they never read. */
  readonly bytesPerSecond: number;
  readonly target: string;
  /** The token of an unknown user is invalid. */
  readonly user: string;
}

const program = fileURLToPath(new URL('clients/slow-readers.py', import.meta.url));

/** Starts clients with a tiny receive window, in Python, because node:net cannot set it. */
export async function startSlowReaders(options: ReaderOptions): Promise<Overload> {
  const { port, connections, bytesPerSecond, target, user } = options;
  const args = [program, String(port), String(connections), String(bytesPerSecond)];
  const child = spawn('python3', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  child.stdin.on('error', () => undefined).write(requestText('GET', target, user));
  const [count] = (await Promise.race([once(child.stdout.setEncoding('utf8'), 'data'), exited])) as [string | number];
  return {
    stop: async () => {
      child.stdin.end();
      await exited;
      return `${String(count).trim()} of ${connections} readers with a receive buffer of 2 KiB connected`;
    },
  };
}
