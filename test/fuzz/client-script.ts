import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { rule } from './finding.ts';
import { parseResponses } from './parse-responses.ts';
import type { ResponseStream } from './parse-responses.ts';
import { parseRequests } from './parse-requests.ts';
import type { RequestStream } from './parse-requests.ts';

/** What a client sends on one connection, and how it ends. Bytes are latin1. */
export interface Script {
  /** The bytes of one request each. */
  readonly drafts: readonly string[];
  /** Whether each draft is sent only after the responses to those before it. */
  readonly isStepwise: boolean;
  /** Where the bytes are split into separate writes, as fractions of the whole, 0 to 1. */
  readonly cuts: readonly number[];
  readonly ending: 'waits' | 'half-closes' | 'destroys' | 'resets';
  /** How much the client sends before it destroys or resets the connection, as a fraction of the whole. */
  readonly endsAt: number;
}

/** What the client sent and received. */
export interface ScriptResult {
  readonly stream: RequestStream;
  readonly received: ResponseStream;
  /** Whether the client waited for all responses. */
  readonly isAwaited: boolean;
  /** Whether the client destroyed or reset the connection. */
  readonly isCut: boolean;
  readonly wasReset: boolean;
  /** Whether the client closed its side before it had all responses. */
  readonly isHalfClosed: boolean;
}

/** How long a client waits for an event: far longer than a busy machine needs. */
const maxWaitMs = 5000;

/** Runs a script against a server. */
export async function runScript(
  port: number,
  { drafts, isStepwise, cuts, ending, endsAt }: Script,
): Promise<ScriptResult> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  const state = { sent: '', text: '', isOver: false, wasReset: false, wake: (): void => undefined };
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    state.text += chunk;
    state.wake();
  });
  socket.on('end', () => {
    state.isOver = true;
    state.wake();
  });
  socket.on('close', () => {
    state.isOver = true;
    state.wake();
  });
  socket.on('error', () => {
    state.wasReset = true;
  });
  await once(socket, 'connect');

  const read = (): ResponseStream => parseResponses(state.text, isHeadIn(state.sent), state.isOver);
  const until = async (isMet: () => boolean, missing: () => string): Promise<void> => {
    const deadline = performance.now() + maxWaitMs;
    while (!state.isOver && !isMet()) {
      const left = deadline - performance.now();
      rule(left > 0, () => `${missing()} within ${maxWaitMs} ms; received ${JSON.stringify(state.text)}`);
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
    const { requests, rest } = parseRequests(state.sent);
    const expected =
      requests.filter(({ bodyState }) => bodyState !== 'incomplete').length + (rest === 'broken' ? 1 : 0);
    await until(
      () => {
        const { responses } = read();
        return responses.length >= expected || responses.at(-1)?.isLast === true;
      },
      () => `not ${expected} responses`,
    );
    if (read().responses.at(-1)?.isLast === true) {
      await until(
        () => false,
        () => 'no end of the connection after the final response',
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
      stream: parseRequests(state.sent),
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
  const { requests, isRestHead } = parseRequests(sent);
  return (n) => (n < requests.length ? requests[n]?.method === 'HEAD' : isRestHead);
}

function pieces(text: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.map((part) => Math.floor(part * text.length)).sort((a, b) => a - b), text.length];
  return places
    .slice(1)
    .map((end, n) => text.slice(places[n], end))
    .filter((piece) => piece !== '');
}
