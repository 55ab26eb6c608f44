import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { HasAfter } from './temporary-folder.ts';

/** A server that accepts connections in its own process. */
export type ServerProcess = Awaited<ReturnType<typeof untilListening>>;

/**
 * Waits until a child process prints that it is ready. `announcement` matches the printed line. Its capture group, if
 * any, is the URL or the port. A process that still runs after the test is killed.
 */
export async function untilListening(t: HasAfter, child: ChildProcess, announcement: RegExp) {
  const output = { stdout: '', stderr: '' };
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  // This listener kills the server if this process exits before the end of the test.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  t.after(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => (output[name] += chunk));
  }
  /** Waits until the output matches, and returns the capture group, if any. */
  const printed = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const search = (): void => {
        const found = pattern.exec(output.stdout) ?? pattern.exec(output.stderr);
        if (found) resolve(found[1] ?? '');
      };
      search();
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', search);
      child.once('close', (code) => {
        reject(new Error(`The program ended with ${code ?? 'a signal'}: ${output.stdout}${output.stderr}`));
      });
    });
  const address = await printed(announcement);
  const url = /^\d+$/.test(address) ? `http://127.0.0.1:${address}` : address;
  return {
    url,
    port: Number(URL.parse(url)?.port),
    pid: child.pid ?? 0,
    printed,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    exited,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    /** Sends a signal. Resolves with the exit code, or `null` if the signal killed the process. */
    stop: (signal: NodeJS.Signals = 'SIGTERM') => {
      child.kill(signal);
      return exited;
    },
  };
}
