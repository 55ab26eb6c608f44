import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Malformed } from './malformed.ts';
import { parseResponses } from './parse-responses.ts';
import type { ResponseStream } from './parse-responses.ts';
import type { Request } from './requests.ts';

/** What a client sends on one connection, and how it ends. */
export interface Script {
  readonly requests: readonly Request[];
  /** Sent after the requests. */
  readonly malformed?: Malformed;
  /** Whether each request is sent only after the responses to those before it. */
  readonly isStepwise: boolean;
  /** Where the bytes are split into separate writes, as fractions of the whole, 0 to 1. */
  readonly cuts: readonly number[];
  /** How the client ends its side of the connection after it has sent everything; by default, the server ends it. */
  readonly ending?: 'half-closes' | 'destroys' | 'resets';
  /** How much the client sends before it destroys or resets the connection, as a fraction of the whole. */
  readonly endsAt?: number;
}

/** What the client received, and how many bytes it had sent. */
export interface Exchanged extends ResponseStream {
  readonly sent: number;
}

/** How long a client waits for an event: far longer than a busy machine needs. */
const maxWaitMs = 5000;

/** Returns whether a client ends the connection without waiting for the responses. */
export function isCut({ ending }: Script): boolean {
  return ending === 'destroys' || ending === 'resets';
}

/** Runs a script against a server. */
export async function runScript(port: number, script: Script): Promise<Exchanged> {
  const { requests, malformed, isStepwise, cuts, ending, endsAt = 1 } = script;
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  const changes = new EventEmitter();
  const state = { sent: 0, received: '', isOver: false };
  const onOver = (): void => {
    state.isOver = true;
    changes.emit('change');
  };
  socket.setEncoding('latin1').on('end', onOver).on('close', onOver);
  socket.on('data', (chunk: string) => {
    state.received += chunk;
    changes.emit('change');
  });
  socket.on('error', () => undefined);
  await once(socket, 'connect');

  const read = (): ResponseStream => {
    const isHead = (n: number): boolean => requests[n]?.method === 'HEAD';
    return parseResponses(state.received, isHead, state.isOver && !isCut(script));
  };
  /** Waits for this many responses, or for the end of the connection. */
  const untilReceived = async (count: number): Promise<void> => {
    const signal = AbortSignal.timeout(maxWaitMs);
    while (!state.isOver && read().responses.length < count) {
      if (signal.aborted) assert.fail(`not ${count} responses and no end: ${JSON.stringify(state.received)}`);
      await once(changes, 'change', { signal }).catch(() => undefined);
    }
  };

  try {
    const texts = [...requests, ...(malformed === undefined ? [] : [malformed])].map(({ bytes }) => bytes);
    const whole = texts.join('');
    const sent = whole.slice(0, endsAt * whole.length);
    for (const [n, text] of (isStepwise && endsAt === 1 ? texts : [sent]).entries()) {
      await untilReceived(n);
      for (const piece of pieces(text, cuts)) {
        if (state.isOver) break;
        state.sent += piece.length;
        socket.write(piece, 'latin1');
        await nextTurn();
        await nextTurn();
      }
    }
    if (ending === 'destroys') socket.destroy();
    else if (ending === 'resets') socket.resetAndDestroy();
    else if (ending === 'half-closes') socket.end();
    if (!isCut(script)) await untilReceived(Infinity);
    return { ...read(), sent: state.sent };
  } finally {
    socket.destroy();
  }
}

function pieces(text: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.map((part) => Math.floor(part * text.length)).sort((a, b) => a - b), text.length];
  return places
    .slice(1)
    .map((end, n) => text.slice(places[n], end))
    .filter((piece) => piece !== '');
}
