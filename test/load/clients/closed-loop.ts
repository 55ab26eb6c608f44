import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createText, requestText } from '../../bench/requests.ts';
import { randomId } from '../../bench/data-set.ts';
import { ResponseReader } from './response-reader.ts';
import { openConnection, openConnections } from '../../bench/connections.ts';
import type { Control } from './load-process.ts';
import { ResponseStats } from './response-stats.ts';
import type { StatsReport } from './response-stats.ts';

/** Clients that send their next request after the response to the one before. */
export interface ClosedLoopOptions {
  readonly port: number;
  readonly connections: number;
  readonly milliseconds: number;
  /** 'list 20' begins at a random place. 'first page' lists the same 20 plants each time. */
  readonly work: 'create' | 'list 20' | 'first page';
  /** The clients use these users in turn. */
  readonly users: readonly string[];
  /** Whether a client waits for a second after a 503, as Retry-After says. */
  readonly heedsRetryAfter?: boolean;
}

export interface ClosedLoopReport extends StatsReport {
  /** The ids of the plants whose create succeeded, was refused, or had no response. */
  readonly created: readonly number[];
  readonly refused: readonly number[];
  readonly unknown: readonly number[];
}

/** The wait for late responses at the end. */
const graceMs = 5000;
const reconnectMs = 50;
/** The Retry-After header of the service. */
const retryAfterMs = 1000;

/** A request that creates a plant whose name is its id. */
export function createTextOf(user: string, id: number): string {
  return createText(user, id, { name: String(id), tag: 'indoor' });
}

const textOf = {
  create: createTextOf,
  'list 20': listText,
  'first page': (user: string) => requestText('GET', '/plants?limit=20', user),
};

/** A request that lists 20 plants, at a random place of the first thousand. */
export function listText(user: string): string {
  return requestText('GET', `/plants?limit=20&after=${Math.floor(Math.random() * 900)}`, user);
}

export async function runClosedLoop(options: ClosedLoopOptions, control: Control): Promise<ClosedLoopReport> {
  const { port, connections, milliseconds, users } = options;
  const sockets = await openConnections(connections, port);
  control.ready();
  const stats = new ResponseStats();
  const end = performance.now() + milliseconds;
  const clients = sockets.map(
    (socket, n) => new Client({ ...options, user: users[n % users.length] ?? '', end, stats }, socket),
  );
  const all = Promise.all(clients.map((client) => client.done));
  await Promise.race([all, control.stopped, sleep(milliseconds + graceMs, undefined, { ref: false })]);
  for (const client of clients) client.abandon();
  return {
    ...stats.report(),
    created: clients.flatMap((client) => client.created),
    refused: clients.flatMap((client) => client.refused),
    unknown: clients.flatMap((client) => client.unknown),
  };
}

interface ClientOptions extends Pick<ClosedLoopOptions, 'port' | 'work' | 'heedsRetryAfter'> {
  readonly user: string;
  readonly end: number;
  readonly stats: ResponseStats;
}

class Client {
  readonly done: Promise<void>;
  readonly created: number[] = [];
  readonly refused: number[] = [];
  readonly unknown: number[] = [];
  readonly #options: ClientOptions;
  #socket: Socket;
  #finish: () => void = () => undefined;
  /** The id in the pending request. */
  #id: number | undefined;
  #sentAt = 0;

  constructor(options: ClientOptions, socket: Socket) {
    this.#options = options;
    this.#socket = socket;
    this.done = new Promise((resolve) => {
      this.#finish = resolve;
    });
    this.#use(socket);
  }

  /** Counts a pending request as unanswered, and disconnects. */
  abandon(): void {
    this.#socket
      .removeAllListeners()
      .on('error', () => undefined)
      .destroy();
    if (this.#id === undefined) return;
    this.#options.stats.unanswered++;
    this.unknown.push(this.#id);
  }

  #use(socket: Socket): void {
    this.#socket = socket;
    const reader = new ResponseReader((status, isLast) => {
      this.#receive(status, isLast);
    });
    socket
      .on('data', (chunk: Buffer) => {
        reader.add(chunk);
      })
      .on('close', () => {
        this.#onClose();
      });
    this.#send();
  }

  #send(): void {
    const now = performance.now();
    if (now >= this.#options.end) {
      this.#finish();
      return;
    }
    const { work, user } = this.#options;
    this.#id = randomId();
    this.#sentAt = now;
    this.#socket.write(textOf[work](user, this.#id));
  }

  #sendIfOpen(): void {
    if (!this.#socket.destroyed && this.#id === undefined) this.#send();
  }

  #receive(status: number, isLast: boolean): void {
    this.#options.stats.add(status, performance.now() - this.#sentAt);
    if (this.#id !== undefined) (status === 200 ? this.created : this.refused).push(this.#id);
    this.#id = undefined;
    // After the final response on a connection, the client continues on a new one.
    if (isLast) this.#socket.end();
    else if (status === 503 && this.#options.heedsRetryAfter === true) {
      setTimeout(() => {
        this.#sendIfOpen();
      }, retryAfterMs);
    } else this.#send();
  }

  #onClose(): void {
    if (this.#id !== undefined) {
      this.#options.stats.closed++;
      this.unknown.push(this.#id);
      this.#id = undefined;
    }
    void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    while (performance.now() < this.#options.end) {
      await sleep(reconnectMs);
      try {
        this.#use(await openConnection(this.#options.port));
        return;
      } catch {
        // The loop retries.
      }
    }
    this.#finish();
  }
}
