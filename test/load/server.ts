import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { untilListening } from '../support/server-process.ts';
import type { ServerProcess } from '../support/server-process.ts';
import type { HasAfter } from '../support/temporary-folder.ts';
import { ProcessWatch } from './process-watch.ts';

export interface ServerOptions {
  /** The folder of the built package. */
  readonly dist: string;
  /** The folder of the log, `plants.db` and `tokens.json`. */
  readonly folder: string;
  /** More options for Node.js. */
  readonly nodeOptions?: readonly string[];
  /** More options for `serve`. */
  readonly serveOptions?: readonly string[];
}

/** The memory of a process, in bytes. */
export interface Memory {
  /** JavaScript objects and buffers. */
  readonly usedBytes: number;
  /** Resident memory. */
  readonly residentBytes: number;
}

const collectGarbage = fileURLToPath(new URL('collect-garbage.ts', import.meta.url));
const maxAcceptMs = 20_000;
/** Longer than the time after which `serve` stops by force. */
const maxStopMs = 15_000;

/** A `plant-store serve` process of the built package, with its log in a file. */
export class ServerUnderLoad {
  readonly port: number;
  /** The other port, if the options contain `--admin-port 0`. */
  readonly adminPort: number | undefined;
  readonly watch: ProcessWatch;
  readonly #child: ChildProcess;
  readonly #server: ServerProcess;
  readonly #log: string;

  private constructor(child: ChildProcess, server: ServerProcess, log: string) {
    const adminPort = /^Health and metrics: http:\/\/\S+:(\d+)$/m.exec(server.stdout())?.[1];
    this.port = server.port;
    this.adminPort = adminPort === undefined ? undefined : Number(adminPort);
    this.watch = new ProcessWatch(server.pid);
    this.#child = child;
    this.#server = server;
    this.#log = log;
  }

  static async start(
    t: HasAfter,
    { dist, folder, nodeOptions = [], serveOptions = [] }: ServerOptions,
  ): Promise<ServerUnderLoad> {
    const logPath = join(folder, 'log.ndjson');
    const log = openSync(logPath, 'a');
    const files = ['--tokens', join(folder, 'tokens.json'), '--storage', `sqlite:${join(folder, 'plants.db')}`];
    const serve = [join(dist, 'tools/cli/main.js'), 'serve', '--port', '0', '--log', 'json', ...files, ...serveOptions];
    const child = spawn(process.execPath, [...nodeOptions, '--expose-gc', '--import', collectGarbage, ...serve], {
      stdio: ['ignore', 'pipe', log, 'ipc'],
      env: { ...process.env, NODE_ENV: 'production' },
    });
    closeSync(log);
    // The server prints both URLs at once.
    const server = await untilListening(t, child, /^Plant Store listening on (\S+)\n/m);
    const underLoad = new ServerUnderLoad(child, server, logPath);
    t.after(() => {
      underLoad.watch.stop();
    });
    return underLoad;
  }

  get isRunning(): boolean {
    return this.#server.isRunning();
  }

  /** Measures its memory after a garbage collection. */
  async memory(): Promise<Memory> {
    const reported = once(this.#child, 'message') as Promise<[number]>;
    this.#child.send('collect');
    const [usedBytes] = await Promise.race([reported, sleep(10_000, [NaN], { ref: false })]);
    // The process returns freed pages to the system a little later.
    await sleep(500);
    return { usedBytes, residentBytes: this.watch.memory() };
  }

  /**
   * Resolves when this many files and connections are open. A client is connected earlier: a busy server accepts only
   * one connection in each event loop iteration.
   */
  async accepted(openFiles: number): Promise<void> {
    const deadline = performance.now() + maxAcceptMs;
    while (this.watch.openFiles() < openFiles && performance.now() < deadline) await sleep(100);
  }

  /** Stops it with SIGTERM, or with SIGKILL if that takes too long. Returns how it ended. */
  async stop(): Promise<string> {
    const start = performance.now();
    const kill = setTimeout(() => this.#child.kill('SIGKILL'), maxStopMs);
    const code = await this.#server.stop();
    clearTimeout(kill);
    const how = code === null ? 'a signal' : `exit code ${code}`;
    return `${how} after ${((performance.now() - start) / 1000).toFixed(1)} s`;
  }

  /** Returns the faults in its log, and how often each occurs. */
  faults(): Map<string, number> {
    const faults = new Map<string, number>();
    for (const line of readFileSync(this.#log, 'utf8').split('\n')) {
      if (line === '' || line.includes('"level":"info"')) continue;
      const fault = faultOf(line);
      faults.set(fault, (faults.get(fault) ?? 0) + 1);
    }
    return faults;
  }
}

/** Returns the message and the first line of the error of a log entry, or the line itself if it is not one. */
function faultOf(line: string): string {
  try {
    const { message, error = '' } = JSON.parse(line) as { message: string; error?: string };
    return `${message} ${error.split('\n')[0] ?? ''}`.trim();
  } catch {
    return line.slice(0, 200);
  }
}
