import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestHead } from '../bench/candidates.ts';
import { randomId } from '../bench/garden.ts';
import { AnswerReader } from './answers.ts';
import { openConnection, openConnections } from './connections.ts';
import type { Control } from './generator.ts';
import { Tally } from './tally.ts';
import type { TallyReport } from './tally.ts';

/** Clients that send their next request when they have an answer. */
export interface LoopOptions {
  readonly port: number;
  readonly connections: number;
  readonly milliseconds: number;
  readonly work: 'create' | 'list 20';
  /** Taken in turn. */
  readonly users: readonly string[];
  /** Whether a client that was told to try again later does so, a second later; otherwise at once. */
  readonly isPatient?: boolean;
}

/** What they saw. */
export interface LoopReport extends TallyReport {
  /** The plants by what became of their requests. */
  readonly created: readonly number[];
  readonly refused: readonly number[];
  readonly unknown: readonly number[];
}

/** For answers that are late at the end. */
const graceMs = 5000;
const reconnectMs = 50;
/** What the service says in Retry-After. */
const retryAfterMs = 1000;

export function createText(user: string, id: number): string {
  const body = `{"id":${id},"name":"${id}","tag":"indoor"}`;
  return `${requestHead('POST', '/plants', user)}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

export function listText(user: string): string {
  return `${requestHead('GET', `/plants?limit=20&after=${Math.floor(Math.random() * 900)}`, user)}\r\n`;
}

export async function runLoop(options: LoopOptions, control: Control): Promise<LoopReport> {
  const { port, connections, milliseconds, users } = options;
  const sockets = await openConnections(connections, { port });
  control.ready();
  const tally = new Tally();
  const end = performance.now() + milliseconds;
  const clients = sockets.map(
    (socket, n) => new Client({ ...options, user: users[n % users.length] ?? '', end, tally }, socket),
  );
  const all = Promise.all(clients.map((client) => client.done));
  await Promise.race([all, sleep(milliseconds + graceMs, undefined, { ref: false })]);
  for (const client of clients) client.cancelWaiting();
  return {
    ...tally.report(),
    created: clients.flatMap((client) => client.created),
    refused: clients.flatMap((client) => client.refused),
    unknown: clients.flatMap((client) => client.unknown),
  };
}

interface ClientOptions extends Pick<LoopOptions, 'port' | 'work' | 'isPatient'> {
  readonly user: string;
  readonly end: number;
  readonly tally: Tally;
}

class Client {
  readonly done: Promise<void>;
  readonly created: number[] = [];
  readonly refused: number[] = [];
  readonly unknown: number[] = [];
  readonly #options: ClientOptions;
  #socket: Socket;
  #finish: () => void = () => undefined;
  /** The plant that is asked for. */
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

  /** Counts what is still under way as unanswered. */
  cancelWaiting(): void {
    this.#socket
      .removeAllListeners()
      .on('error', () => undefined)
      .destroy();
    if (this.#id === undefined) return;
    this.#options.tally.unanswered++;
    this.unknown.push(this.#id);
  }

  #use(socket: Socket): void {
    this.#socket = socket;
    const reader = new AnswerReader((status, isLast) => {
      this.#take(status, isLast);
    });
    socket
      .on('data', (chunk: Buffer) => {
        reader.take(chunk);
      })
      .on('close', () => {
        this.#closed();
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
    this.#socket.write(work === 'create' ? createText(user, this.#id) : listText(user));
  }

  #sendIfOpen(): void {
    if (!this.#socket.destroyed && this.#id === undefined) this.#send();
  }

  #take(status: number, isLast: boolean): void {
    this.#options.tally.answered(status, performance.now() - this.#sentAt);
    if (this.#id !== undefined) (status === 200 ? this.created : this.refused).push(this.#id);
    this.#id = undefined;
    // On another connection, when this one is closed.
    if (isLast) this.#socket.end();
    else if (status === 503 && this.#options.isPatient === true) {
      setTimeout(() => {
        this.#sendIfOpen();
      }, retryAfterMs);
    } else this.#send();
  }

  #closed(): void {
    if (this.#id !== undefined) {
      this.#options.tally.closed++;
      this.unknown.push(this.#id);
      this.#id = undefined;
    }
    void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    while (performance.now() < this.#options.end) {
      await sleep(reconnectMs);
      try {
        this.#use(await openConnection({ port: this.#options.port }));
        return;
      } catch {
        // Once more.
      }
    }
    this.#finish();
  }
}
