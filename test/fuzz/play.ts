import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { rule } from './finding.ts';
import { readAnswers } from './read-answers.ts';
import type { AnswerStream } from './read-answers.ts';
import { readRequests } from './read-requests.ts';
import type { RequestStream } from './read-requests.ts';

/** What a client does on one connection; bytes as latin1. */
export interface Script {
  /** Meant as one request each. */
  readonly drafts: readonly string[];
  /** Whether each draft waits for the answers to those in front of it. */
  readonly isStepwise: boolean;
  /** Where the bytes are cut into pieces, as parts of the whole, 0 to 1. */
  readonly cuts: readonly number[];
  readonly ending: 'waits' | 'half-closes' | 'destroys' | 'resets';
  /** How much is sent before a client destroys or resets the connection, as a part of the whole. */
  readonly endsAt: number;
}

/** What came of a script. */
export interface Played {
  readonly stream: RequestStream;
  readonly received: AnswerStream;
  /** Whether the client stayed to hear all answers. */
  readonly isAwaited: boolean;
  /** Whether the client went away by itself. */
  readonly isCut: boolean;
  readonly wasReset: boolean;
  /** Whether the client closed its half before it had all answers. */
  readonly isHalfClosed: boolean;
}

/** How long a client waits for anything: far over what a busy machine takes. */
const patienceMs = 5000;

/** Plays a script against a server. */
export async function play(port: number, { drafts, isStepwise, cuts, ending, endsAt }: Script): Promise<Played> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  const state = { sent: '', text: '', isOver: false, wasReset: false, wake: (): void => undefined };
  const change = (): void => {
    state.wake();
  };
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    state.text += chunk;
    change();
  });
  socket.on('end', () => {
    state.isOver = true;
    change();
  });
  socket.on('close', () => {
    state.isOver = true;
    change();
  });
  socket.on('error', () => {
    state.wasReset = true;
  });
  await once(socket, 'connect');

  const read = (): AnswerStream => readAnswers(state.text, isHeadIn(state.sent), state.isOver);
  const until = async (isThere: () => boolean, missing: () => string): Promise<void> => {
    const deadline = performance.now() + patienceMs;
    while (!state.isOver && !isThere()) {
      const left = deadline - performance.now();
      rule(left > 0, () => `${missing()} within ${patienceMs} ms, only ${JSON.stringify(state.text)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        state.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const untilAnswered = async (): Promise<void> => {
    const { requests, rest } = readRequests(state.sent);
    const wanted = requests.filter(({ bodyState }) => bodyState !== 'incomplete').length + (rest === 'broken' ? 1 : 0);
    await until(
      () => {
        const { answers } = read();
        return answers.length >= wanted || answers.at(-1)?.isLast === true;
      },
      () => `no answers to ${wanted} requests`,
    );
    if (read().answers.at(-1)?.isLast === true) {
      await until(
        () => false,
        () => 'no end behind the last answer',
      );
    }
  };

  try {
    const isLeaving = ending === 'destroys' || ending === 'resets';
    const whole = drafts.join('');
    let left = isLeaving ? Math.floor(whole.length * endsAt) : whole.length;
    for (const draft of isStepwise ? drafts : [whole]) {
      for (const piece of pieces(draft.slice(0, left), cuts)) {
        if (state.isOver) break;
        state.sent += piece;
        socket.write(piece, 'latin1');
        await nextTurn();
        await nextTurn();
      }
      left -= draft.length;
      if (left <= 0) break;
      if (isStepwise) await untilAnswered();
    }
    if (ending === 'waits') await untilAnswered();
    if (ending === 'destroys') socket.destroy();
    else if (ending === 'resets') socket.resetAndDestroy();
    else if (!socket.destroyed) socket.end();
    if (!isLeaving) {
      await until(
        () => false,
        () => 'no end of the connection',
      );
    }
    return {
      stream: readRequests(state.sent),
      received: read(),
      isAwaited: ending === 'waits',
      isCut: isLeaving,
      isHalfClosed: ending === 'half-closes',
      wasReset: state.wasReset,
    };
  } finally {
    socket.destroy();
  }
}

function isHeadIn(sent: string): (n: number) => boolean {
  const { requests, isRestHead } = readRequests(sent);
  return (n) => (n < requests.length ? requests[n]?.method === 'HEAD' : isRestHead);
}

function pieces(text: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.map((part) => Math.floor(part * text.length)).sort((a, b) => a - b), text.length];
  return places
    .slice(1)
    .map((end, n) => text.slice(places[n], end))
    .filter((piece) => piece !== '');
}
