import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { randomId, tokenOf } from '../bench/garden.ts';
import { ProcessWatch } from './watch.ts';

/** Where a server runs and on what. */
export interface ServerOptions {
  /** The built package. */
  readonly dist: string;
  /** Where the log goes. */
  readonly folder: string;
  readonly database: string;
  readonly tokens: string;
  /** The limit of open files, soft and hard; without it the limit of this process holds. */
  readonly maxOpenFiles?: number | undefined;
}

/** What a process has of memory, in bytes. */
export interface Memory {
  /** JavaScript's objects and buffers. */
  readonly usedBytes: number;
  /** All that the system keeps for it, used or not. */
  readonly residentBytes: number;
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly seconds: number;
}

const collectGarbage = fileURLToPath(new URL('collect-garbage.ts', import.meta.url));
/** A server that takes longer is as good as gone. */
export const answerWithinMs = 20_000;
/** `serve` gives up by itself before. */
const stopWithinMs = 15_000;

/** `plant-store serve` as it is shipped, in a process of its own, with its log in a file. */
export class ServerUnderLoad {
  readonly port: number;
  readonly watch: ProcessWatch;
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #log: string;

  private constructor(child: ChildProcess, port: number, log: string) {
    this.port = port;
    this.watch = new ProcessWatch(child.pid ?? 0);
    this.#child = child;
    this.#log = log;
    this.#exited = child.exitCode === null ? once(child, 'exit') : Promise.resolve();
  }

  static async start({ dist, folder, database, tokens, maxOpenFiles }: ServerOptions): Promise<ServerUnderLoad> {
    const logPath = join(folder, 'log.ndjson');
    const log = openSync(logPath, 'a');
    const serve = [
      join(dist, 'cli/main.js'),
      'serve',
      '--port',
      '0',
      '--log',
      'json',
      '--tokens',
      tokens,
      '--storage',
      `sqlite:${database}`,
    ];
    const node = ['--expose-gc', '--import', collectGarbage, ...serve];
    // prlimit replaces itself by the program, so the process id stays the same.
    const [program, args] =
      maxOpenFiles === undefined
        ? [process.execPath, node]
        : ['prlimit', [`--nofile=${maxOpenFiles}:${maxOpenFiles}`, process.execPath, ...node]];
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', log, 'ipc'],
      env: { ...process.env, NODE_ENV: 'production' },
    });
    closeSync(log);
    const port = await new Promise<number>((resolve, reject) => {
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        const found = /http:\/\/[^\s/]+:(\d+)/.exec(text)?.[1];
        if (found !== undefined) resolve(Number(found));
      });
      child.once('error', reject).once('exit', () => {
        reject(new Error(`The server did not start: ${readFileSync(logPath, 'utf8')}`));
      });
    });
    return new ServerUnderLoad(child, port, logPath);
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** What it has when its garbage is collected. */
  async memory(): Promise<Memory> {
    const answered = once(this.#child, 'message') as Promise<[number]>;
    this.#child.send('collect');
    const [usedBytes] = await Promise.race([answered, sleep(10_000, [NaN], { ref: false })]);
    // Freed pages go back to the system a little later.
    await sleep(500);
    return { usedBytes, residentBytes: this.watch.memory() };
  }

  /** For how long a new client waits for its plant to be created, in milliseconds; throws where it is not within {@link answerWithinMs}. */
  async answerTime(user: string): Promise<number> {
    const start = performance.now();
    const headers = { authorization: `Bearer ${tokenOf(user)}`, 'content-type': 'application/json' };
    const sent = request({
      port: this.port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/plants',
      headers,
      agent: false,
      signal: AbortSignal.timeout(answerWithinMs),
    });
    sent.end(JSON.stringify({ id: randomId(), name: 'Fern' }));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    if (response.statusCode !== 200) throw new Error(`a good request was answered ${response.statusCode ?? ''}`);
    return performance.now() - start;
  }

  /** Stops it as an administrator would. */
  async stop(): Promise<Exit> {
    const start = performance.now();
    this.#child.kill('SIGTERM');
    const kill = setTimeout(() => this.#child.kill('SIGKILL'), stopWithinMs);
    await this.#exited;
    clearTimeout(kill);
    this.watch.stop();
    return { ...this.exit, seconds: (performance.now() - start) / 1000 };
  }

  get exit(): { code: number | null; signal: NodeJS.Signals | null } {
    return { code: this.#child.exitCode, signal: this.#child.signalCode };
  }

  /** The faults in its log: what was said, and how many times. */
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

/** The first line of what a line of the log tells; what is no line of the log stands for itself. */
function faultOf(line: string): string {
  try {
    const { message, error = '' } = JSON.parse(line) as { message: string; error?: string };
    return `${message} ${error.split('\n')[0] ?? ''}`.trim();
  } catch {
    return line.slice(0, 200);
  }
}
