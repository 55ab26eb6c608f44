import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { HasAfter } from './temporary-folder.ts';

/** A plain TCP connection to a server, for what no HTTP client would send. */
export class RawConnection {
  readonly socket: Socket;
  #received = '';

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1').on('data', (chunk: string) => (this.#received += chunk));
    socket.on('error', () => undefined);
  }

  static async open(t: HasAfter, port: number): Promise<RawConnection> {
    const socket = connect(port, '127.0.0.1');
    t.after(() => {
      socket.destroy();
    });
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  send(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** Everything received so far, as soon as it matches. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#received)) {
      if (this.socket.destroyed) throw new Error(`The connection ended with ${JSON.stringify(this.#received)}`);
      await this.#nextEvent();
    }
    return this.#received;
  }

  /** Everything received until the server closed the connection. */
  async untilClosed(): Promise<string> {
    while (!this.socket.destroyed) await this.#nextEvent();
    return this.#received;
  }

  #nextEvent(): Promise<void> {
    return new Promise((resolve) => {
      const settle = (): void => {
        this.socket.off('data', settle).off('close', settle);
        resolve();
      };
      this.socket.on('data', settle).on('close', settle);
    });
  }
}

/** The status and JSON body of a whole answer. */
export function parseRawAnswer(text: string): { status: number; head: string; json: unknown } {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]),
    head,
    json: body === '' ? undefined : JSON.parse(body),
  };
}

/** All the answers of a connection, each with a Content-Length or without a body. */
export function parseRawAnswers(text: string): { status: number; head: string; json: unknown }[] {
  const answers = [];
  for (let at = 0; at < text.length;) {
    const headEnd = text.indexOf('\r\n\r\n', at) + 4;
    if (headEnd < at) throw new Error(`No whole answer: ${text.slice(at, at + 200)}`);
    const length = Number(/^Content-Length: (\d+)\r$/im.exec(text.slice(at, headEnd))?.[1] ?? 0);
    answers.push(parseRawAnswer(text.slice(at, headEnd + length)));
    at = headEnd + length;
  }
  return answers;
}
