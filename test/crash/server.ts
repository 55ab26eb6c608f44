import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { printedUrl } from '../bench/printed-url.ts';

/** A `plant-store serve` process. */
export interface CrashServer {
  /** Its URL, as soon as it accepts connections; `undefined` if it exits before. */
  readonly url: Promise<string | undefined>;
  /** Returns what it has printed to standard error. */
  stderr(): string;
  /** Sends a signal, by default SIGKILL, and resolves with the exit code; `null` if the signal ended the process. */
  kill(signal?: NodeJS.Signals): Promise<number | null>;
}

/** What Node.js runs as `plant-store`, and the storage setting of the servers. */
export interface CrashProgram {
  readonly command: readonly string[];
  /** Names the file `plants.db`. */
  readonly storage: string;
}

/** Starts a server in the folder. */
export function startCrashServer({ command, storage }: CrashProgram, cwd: string): CrashServer {
  const args = [...command, 'serve', '--port', '0', '--storage', storage, '--log', 'off'];
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  return {
    url: printedUrl(child),
    stderr: () => stderr,
    kill: (signal = 'SIGKILL') => {
      child.kill(signal);
      return exited;
    },
  };
}
