import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { errorOf } from './call.ts';
import type { Service } from './service.ts';
import type { HasAfter } from './temporary-folder.ts';

/** The headers that every request of ada needs. */
export const head = 'Host: x\r\nAuthorization: Bearer ada\r\n';

export function get(target: string, moreHeaders = ''): string {
  return `GET ${target} HTTP/1.1\r\n${head}${moreHeaders}\r\n`;
}

export const listRequest: string = get('/plants');
/** A list request after which the server closes the connection. */
export const lastList: string = get('/plants', 'Connection: close\r\n');

/** Returns a POST request of ada. `length` is the Content-Length, which can be wrong. */
export function post(body: string, length = body.length): string {
  return `POST /plants HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;
}

export function createRequest(id: number): string {
  return post(`{"id":${id},"name":"plant ${id}"}`);
}

/** A TCP connection to a server, for requests that no HTTP client would send. */
export class RawConnection {
  readonly socket: Socket;
  #received = '';
  /** Resolves when data arrives or the connection is closed. */
  #changed = Promise.withResolvers<undefined>();

  constructor(socket: Socket) {
    const onChange = (chunk: unknown): void => {
      if (typeof chunk === 'string') this.#received += chunk;
      this.#changed.resolve(undefined);
      this.#changed = Promise.withResolvers();
    };
    this.socket = socket.setEncoding('latin1').on('data', onChange).on('close', onChange);
    socket.on('error', () => undefined);
  }

  /**
   * Connects to a server, and sends `text`. The connection is closed after the test. With `allowHalfOpen`, the client
   * keeps its side open after the server has ended the connection.
   */
  static async open(t: HasAfter, port: number, text = '', allowHalfOpen = false): Promise<RawConnection> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen });
    t.after(() => socket.destroy());
    await once(socket, 'connect');
    const connection = new RawConnection(socket);
    connection.send(text);
    return connection;
  }

  send(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** Waits until the received text matches `pattern`, and returns the whole text. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#received)) {
      if (this.socket.destroyed) throw new Error(`The connection ended with ${JSON.stringify(this.#received)}`);
      await this.#changed.promise;
    }
    return this.#received;
  }

  /** Waits until the server closes the connection, and returns everything received. */
  async untilClosed(): Promise<string> {
    while (!this.socket.destroyed) await this.#changed.promise;
    return this.#received;
  }
}

type InProcess = Pick<Service, 'server' | 'port'>;

/**
 * Parses all responses of a connection. Each response must have a Content-Length or no body. If the body is empty,
 * `json` is `undefined`.
 */
export function parseRawAnswers(received: string) {
  const answers = [];
  for (let at = 0; at < received.length;) {
    const headEnd = received.indexOf('\r\n\r\n', at) + 4;
    if (headEnd < at) throw new Error(`This is not a complete response: ${received.slice(at, at + 200)}`);
    const [line = '', ...fields] = received.slice(at, headEnd).trimEnd().split('\r\n');
    const headers = new Headers(fields.map((field) => field.split(': ', 2) as [string, string]));
    at = headEnd + Number(headers.get('content-length') ?? 0);
    const text = received.slice(headEnd, at);
    const json: unknown = text === '' ? undefined : JSON.parse(text);
    answers.push({ status: Number(line.split(' ')[1]), headers, text, json, error: errorOf(json) });
  }
  return answers;
}

/** Sends text on a new connection, and returns everything that is received until the server closes the connection. */
export async function exchange(t: HasAfter, port: number, text: string): Promise<string> {
  return (await RawConnection.open(t, port, text)).untilClosed();
}

/** Connects to a server in this process. Returns the connection and the socket that the server has accepted. */
export async function openAccepted(t: HasAfter, { server, port }: InProcess): Promise<[RawConnection, Socket]> {
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const connection = await RawConnection.open(t, port);
  return [connection, (await accepted)[0]];
}

/**
 * Sends a request to a server in this process, and waits until the server handles it. With `isPaused`, the client reads
 * nothing.
 */
export async function begin(
  t: HasAfter,
  { server, port }: InProcess,
  text: string,
  { isPaused = false } = {},
): Promise<{ connection: RawConnection; response: ServerResponse }> {
  // Without this timeout, the test would hang if the server closed the connection.
  const signal = AbortSignal.timeout(60_000);
  const begun = once(server, 'request', { signal }) as Promise<[unknown, ServerResponse]>;
  const connection = await RawConnection.open(t, port);
  if (isPaused) connection.socket.pause();
  connection.send(text);
  return { connection, response: (await begun)[1] };
}
