import type { Socket } from 'node:net';
import { ResponseReader } from './response-reader.ts';

/** The connections of one kind that ended in the same way. */
export interface ConnectionEnd {
  readonly kind: string;
  /** The status of the last response, 'none' without a response, or 'still open' if it did not end. */
  readonly response: string;
  readonly count: number;
  /** When the first and the last of them ended, in seconds. */
  readonly firstSeconds: number;
  readonly lastSeconds: number;
}

interface Watched {
  readonly kind: string;
  response: string;
  seconds: number | undefined;
}

/** Records when the server closes connections, and after which response. */
export class ConnectionEnds {
  readonly #watched: Watched[] = [];
  #open = 0;
  #onAllClosed: () => void = () => undefined;

  /** Starts to watch a connection, and reads from it. */
  watch(kind: string, socket: Socket): void {
    const start = performance.now();
    const watched: Watched = { kind, response: 'none', seconds: undefined };
    this.#watched.push(watched);
    this.#open++;
    const reader = new ResponseReader((status) => {
      watched.response = String(status);
    });
    socket.on('data', (chunk: Buffer) => {
      reader.add(chunk);
    });
    const ended = (): void => {
      watched.seconds = (performance.now() - start) / 1000;
      if (--this.#open === 0) this.#onAllClosed();
    };
    if (socket.destroyed) ended();
    else socket.once('close', ended);
  }

  /** Resolves when all are closed. */
  allClosed(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#open === 0) resolve();
      else this.#onAllClosed = resolve;
    });
  }

  report(): ConnectionEnd[] {
    const groups = Map.groupBy(
      this.#watched,
      ({ kind, response, seconds }) => `${kind}\n${seconds === undefined ? 'still open' : response}`,
    );
    return [...groups].map(([key, group]) => {
      const [kind = '', response = ''] = key.split('\n');
      const seconds = group.map((each) => each.seconds ?? NaN);
      return {
        kind,
        response,
        count: group.length,
        firstSeconds: Math.min(...seconds),
        lastSeconds: Math.max(...seconds),
      };
    });
  }
}

export function describeConnectionEnd({ kind, response, count, firstSeconds, lastSeconds }: ConnectionEnd): string {
  if (response === 'still open') return `${count} ${kind}: still open at the end`;
  const how = response === 'none' ? 'closed without a further response' : `closed after a ${response} response`;
  return `${count} ${kind}: ${how}, after ${firstSeconds.toFixed(1)} to ${lastSeconds.toFixed(1)} s`;
}
