import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { HasAfter } from './temporary-folder.ts';

/** A server that accepts connections in its own process. */
export interface ServerProcess {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly isRunning: () => boolean;
  /** Sends a signal, by default SIGTERM. Resolves with the exit code, or `null` if the signal killed the process. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>;
}

/**
 * Waits until a child process prints that it accepts connections. `announcement` matches the printed line. The first
 * capture group is the URL or the port. A process that still runs after the test is killed.
 */
export async function untilListening(t: HasAfter, child: ChildProcess, announcement: RegExp): Promise<ServerProcess> {
  let stdout = '';
  let stderr = '';
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  // This listener kills the server if this process exits before the end of the test.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  t.after(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const address = await new Promise<string>((resolve, reject) => {
    const resolveIfFound = (text: string): void => {
      const found = announcement.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      resolveIfFound((stdout += chunk));
    });
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      resolveIfFound((stderr += chunk));
    });
    void exited.then((code) => {
      reject(new Error(`The server ended with ${code ?? 'a signal'}: ${stdout}${stderr}`));
    });
  });
  const url = /^\d+$/.test(address) ? `http://127.0.0.1:${address}` : address;
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return exited;
    },
  };
}
