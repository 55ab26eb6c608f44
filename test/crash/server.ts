import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A `plant-store serve` that is there to be killed. */
export interface CrashServer {
  /** Its address, once it listens; `undefined` where it ended before. */
  readonly listening: Promise<string | undefined>;
  readonly exited: Promise<number | null>;
  /** What it said on standard error. */
  stderr(): string;
  kill(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts a server over the file `plants.db` in the folder; `command` is what Node.js runs. */
export function startCrashServer(command: readonly string[], cwd: string): CrashServer {
  const child = spawn(
    process.execPath,
    [...command, 'serve', '--port', '0', '--storage', 'sqlite:plants.db', '--log', 'off'],
    {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let [stdout, stderr] = ['', ''];
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const listening = new Promise<string | undefined>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
      const url = /^Plant Store listening on (\S+)\n/m.exec(stdout)?.[1];
      if (url !== undefined) resolve(url);
    });
    void exited.then(() => {
      resolve(undefined);
    });
  });
  return {
    listening,
    exited,
    stderr: () => stderr,
    kill: (signal = 'SIGKILL') => {
      child.kill(signal);
      return exited;
    },
  };
}
