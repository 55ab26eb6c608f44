import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { randomId, tokenOf } from '../bench/data-set.ts';
import { printedUrl } from '../bench/printed-url.ts';
import { ProcessWatch } from './process-watch.ts';

export interface ServerOptions {
  /** The folder of the built package. */
  readonly dist: string;
  /** The folder for the log. */
  readonly folder: string;
  readonly database: string;
  readonly tokens: string;
  /** The soft and hard limit of open files; by default that of this process. */
  readonly maxOpenFiles?: number | undefined;
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

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly seconds: number;
}

const collectGarbage = fileURLToPath(new URL('collect-garbage.ts', import.meta.url));
/** The longest wait for a response in {@link ServerUnderLoad.responseTime}. */
export const maxResponseMs = 20_000;
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
  readonly #exited: Promise<unknown>;
  readonly #log: string;

  private constructor(child: ChildProcess, [port = NaN, adminPort]: readonly number[], log: string) {
    this.port = port;
    this.adminPort = adminPort;
    this.watch = new ProcessWatch(child.pid ?? 0);
    this.#child = child;
    this.#log = log;
    this.#exited = child.exitCode === null ? once(child, 'exit') : Promise.resolve();
  }

  static async start(serverOptions: ServerOptions): Promise<ServerUnderLoad> {
    const { dist, folder, database, tokens, maxOpenFiles, nodeOptions = [], serveOptions = [] } = serverOptions;
    const logPath = join(folder, 'log.ndjson');
    const log = openSync(logPath, 'a');
    const options = ['--port', '0', '--log', 'json', '--tokens', tokens, '--storage', `sqlite:${database}`];
    const serve = [join(dist, 'tools/cli/main.js'), 'serve', ...options, ...serveOptions];
    const node = [...nodeOptions, '--expose-gc', '--import', collectGarbage, ...serve];
    // prlimit executes the program in its own process, so the process id stays the same.
    const [program, args] =
      maxOpenFiles === undefined
        ? [process.execPath, node]
        : ['prlimit', [`--nofile=${maxOpenFiles}:${maxOpenFiles}`, process.execPath, ...node]];
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', log, 'ipc'],
      env: { ...process.env, NODE_ENV: 'production' },
    });
    closeSync(log);
    // The server prints both URLs at once.
    let printed = '';
    child.stdout?.on('data', (text: string) => {
      printed += text;
    });
    const url = await printedUrl(child);
    if (url === undefined) throw new Error(`The server did not start: ${readFileSync(logPath, 'utf8')}`);
    const ports = Array.from(printed.matchAll(/http:\/\/127\.0\.0\.1:(\d+)$/gm), ([, port]) => Number(port));
    return new ServerUnderLoad(child, ports, logPath);
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
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
   * Creates a plant on a new connection, and returns how many milliseconds the response takes. Throws
   * if it takes longer than {@link maxResponseMs}.
   */
  async responseTime(user: string): Promise<number> {
    const start = performance.now();
    const headers = { authorization: `Bearer ${tokenOf(user)}`, 'content-type': 'application/json' };
    const sent = request({
      port: this.port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/plants',
      headers,
      agent: false,
      signal: AbortSignal.timeout(maxResponseMs),
    });
    sent.end(JSON.stringify({ id: randomId(), name: 'Fern' }));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode ?? ''} for a correct request`);
    return performance.now() - start;
  }

  /**
   * Resolves when this many files and connections are open. A client is connected earlier: a busy server accepts only
   * one connection in each event loop iteration.
   */
  async accepted(openFiles: number): Promise<void> {
    const deadline = performance.now() + maxAcceptMs;
    while (this.watch.openFiles() < openFiles && performance.now() < deadline) await sleep(100);
  }

  /** Stops it with SIGTERM, or with SIGKILL if that takes too long. */
  async stop(): Promise<Exit> {
    const start = performance.now();
    this.#child.kill('SIGTERM');
    const kill = setTimeout(() => this.#child.kill('SIGKILL'), maxStopMs);
    await this.#exited;
    clearTimeout(kill);
    this.watch.stop();
    return { ...this.exit, seconds: (performance.now() - start) / 1000 };
  }

  get exit(): { code: number | null; signal: NodeJS.Signals | null } {
    return { code: this.#child.exitCode, signal: this.#child.signalCode };
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
