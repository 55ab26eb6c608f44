import type { Socket } from 'node:net';
import { AnswerReader } from './answers.ts';

/** Connections of one kind that ended in the same way. */
export interface Ending {
  readonly kind: string;
  /** The status of the last answer before it, 'none' where there was none, 'still open' where it did not end. */
  readonly answer: string;
  readonly count: number;
  /** The first and the last of them, in seconds since they were watched. */
  readonly firstSeconds: number;
  readonly lastSeconds: number;
}

interface Watched {
  readonly kind: string;
  answer: string;
  seconds: number | undefined;
}

/** Sees when and with what answer the server closes connections. */
export class Endings {
  readonly #watched: Watched[] = [];
  #open = 0;
  #onAllClosed: () => void = () => undefined;

  /** Watches from now on, and takes what comes in. */
  watch(kind: string, socket: Socket): void {
    const start = performance.now();
    const watched: Watched = { kind, answer: 'none', seconds: undefined };
    this.#watched.push(watched);
    this.#open++;
    const reader = new AnswerReader((status) => {
      watched.answer = String(status);
    });
    socket.on('data', (chunk: Buffer) => {
      reader.take(chunk);
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

  report(): Ending[] {
    const groups = Map.groupBy(
      this.#watched,
      ({ kind, answer, seconds }) => `${kind}\n${seconds === undefined ? 'still open' : answer}`,
    );
    return [...groups].map(([key, group]) => {
      const [kind = '', answer = ''] = key.split('\n');
      const seconds = group.map((each) => each.seconds ?? NaN);
      return {
        kind,
        answer,
        count: group.length,
        firstSeconds: Math.min(...seconds),
        lastSeconds: Math.max(...seconds),
      };
    });
  }
}

export function describeEnding({ kind, answer, count, firstSeconds, lastSeconds }: Ending): string {
  if (answer === 'still open') return `${count} ${kind}: still open at the end`;
  const told = answer === 'none' ? 'closed without an answer' : `answered ${answer} and closed`;
  return `${count} ${kind}: ${told} after ${firstSeconds.toFixed(1)} to ${lastSeconds.toFixed(1)} s`;
}
