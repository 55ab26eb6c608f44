import { EventEmitter, once } from 'node:events';
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
  readonly isStepwise?: boolean;
  /** Where the bytes are split into separate writes, as fractions of the whole, 0 to 1. */
  readonly cuts?: readonly number[];
  readonly ending?: 'waits' | 'half-closes' | 'destroys' | 'resets';
  /** How much the client sends before it destroys or resets the connection, as a fraction of the whole. */
  readonly endsAt?: number;
}

/** What the client sent and received. */
export interface ScriptResult {
  readonly stream: RequestStream;
  readonly received: ResponseStream;
  readonly ending: Script['ending'];
  /** Whether the client destroyed or reset the connection. */
  readonly isCut: boolean;
  readonly wasReset: boolean;
}

/** How long a client waits for an event: far longer than a busy machine needs. */
const maxWaitMs = 5000;

/** Runs a script against a server. */
export async function runScript(
  port: number,
  { drafts, isStepwise = false, cuts = [], ending = 'waits', endsAt = 1 }: Script,
): Promise<ScriptResult> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  const changes = new EventEmitter();
  const state = { sent: '', text: '', isOver: false, wasReset: false };
  const onOver = (): void => {
    state.isOver = true;
    changes.emit('change');
  };
  socket.setEncoding('latin1').on('end', onOver).on('close', onOver);
  socket.on('data', (chunk: string) => {
    state.text += chunk;
    changes.emit('change');
  });
  socket.on('error', () => {
    state.wasReset = true;
  });
  await once(socket, 'connect');

  const read = (): ResponseStream => {
    const { requests, isRestHead } = parseRequests(state.sent);
    const isHead = (n: number): boolean => (n < requests.length ? requests[n]?.method === 'HEAD' : isRestHead);
    return parseResponses(state.text, isHead, state.isOver);
  };
  const hasFinalResponse = (): boolean => read().responses.at(-1)?.isLast === true;
  const until = async (isMet: () => boolean, missing: string): Promise<void> => {
    const signal = AbortSignal.timeout(maxWaitMs);
    while (!state.isOver && !isMet()) {
      rule(!signal.aborted, () => `${missing} within ${maxWaitMs} ms; received ${JSON.stringify(state.text)}`);
      await once(changes, 'change', { signal }).catch(() => undefined);
    }
  };
  const untilOver = (): Promise<void> => until(() => false, 'no end of the connection');
  const untilAnswered = async (): Promise<void> => {
    const { requests, rest } = parseRequests(state.sent);
    const complete = requests.filter(({ bodyState }) => bodyState !== 'incomplete').length;
    const expected = complete + (rest === 'broken' ? 1 : 0);
    await until(() => read().responses.length >= expected || hasFinalResponse(), `not ${expected} responses`);
    if (hasFinalResponse()) await untilOver();
  };

  try {
    const isCut = ending === 'destroys' || ending === 'resets';
    const whole = drafts.join('');
    let left = isCut ? Math.floor(whole.length * endsAt) : whole.length;
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
    if (!isCut) await untilOver();
    return { stream: parseRequests(state.sent), received: read(), ending, isCut, wasReset: state.wasReset };
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
