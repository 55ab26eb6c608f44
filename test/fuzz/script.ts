import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { RawConnection } from '../support/raw-http.ts';
import { CleanUp } from '../support/temporary-folder.ts';
import { malformedOf } from './malformed.ts';
import type { Malformed } from './malformed.ts';
import { closingRequest, requestOf } from './requests.ts';
import type { Request } from './requests.ts';

/** The bytes that a client sends on one connection, and how the client ends the connection. */
export interface Script {
  readonly requests: readonly Request[];
  /** Bytes that the client sends after the requests. */
  readonly malformed?: Malformed;
  /** Whether the client sends each request only after the response to the previous request has begun. */
  readonly isStepwise: boolean;
  /** The positions at which the bytes are split into separate writes, as fractions of the total length. */
  readonly cuts: readonly number[];
  /** How the client ends the connection after sending. By default, the client waits until the server closes it. */
  readonly ending?: 'half-closes' | 'destroys' | 'resets';
  /** How much the client sends before it destroys or resets the connection, as a fraction of the total length. */
  readonly endsAt?: number;
}

/** How many bytes the client sent, and what it received. */
export interface Exchanged {
  readonly sent: number;
  readonly received: string;
}

/** How long a client waits for an event. Even a busy machine needs far less time. */
const maxWaitMs = 5000;
const part = fc.nat(1000).map((n) => n / 1000);

/** Generates a script with tokens of these users. Malformed bytes contain the first user's tokens. */
export function scriptOf(owners: readonly [string, ...string[]]): fc.Arbitrary<Script> {
  const common = fc.record({
    requests: fc.array(requestOf(owners), { maxLength: 5, size: 'max' }).map(untilFinal),
    isStepwise: fc.boolean(),
    cuts: fc.oneof(fc.constant([]), fc.constant([]), fc.array(part, { maxLength: 5 })),
  });
  return fc.oneof(
    {
      weight: 6,
      arbitrary: common.map((given) => ({ ...given, requests: untilFinal([...given.requests, closingRequest]) })),
    },
    { weight: 2, arbitrary: common.map((given) => ({ ...given, ending: 'half-closes' as const })) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(common, fc.constantFrom('destroys' as const, 'resets' as const), part)
        .map(([given, ending, endsAt]) => ({ ...given, ending, endsAt })),
    },
    {
      weight: 4,
      arbitrary: fc.tuple(common, malformedOf(owners[0])).map(([given, malformed]) => ({
        ...given,
        requests: given.requests.filter(({ isFinal }) => !isFinal),
        malformed,
        // If the server does not refuse the bytes, they may be an incomplete request, so the client must end its side.
        ...(!malformed.isRefused && { ending: 'half-closes' as const }),
      })),
    },
  );
}

/** Omits the requests after the last request of a connection. Such requests are a syntax error. */
function untilFinal(requests: readonly Request[]): Request[] {
  const final = requests.findIndex(({ isFinal }) => isFinal);
  return requests.slice(0, final === -1 ? undefined : final + 1);
}

/** Returns whether a client ends the connection without waiting for the responses. */
export function isCut({ ending }: Script): boolean {
  return ending === 'destroys' || ending === 'resets';
}

/** Runs a script against a server. */
export async function runScript(port: number, script: Script): Promise<Exchanged> {
  const { requests, malformed, isStepwise, cuts, ending, endsAt = 1 } = script;
  await using cleanUp = new CleanUp();
  const connection = await RawConnection.open(cleanUp, port);
  const { socket } = connection;
  let isStuck = false;
  socket.setNoDelay().setTimeout(maxWaitMs, () => {
    isStuck = true;
    socket.destroy();
  });
  const texts = [...requests, ...(malformed === undefined ? [] : [malformed])].map(({ bytes }) => bytes);
  const whole = texts.join('');
  let sent = 0;
  for (const [n, text] of (isStepwise && endsAt === 1 ? texts : [whole.slice(0, endsAt * whole.length)]).entries()) {
    // If the server has closed the connection, `until` rejects.
    await connection.until(new RegExp(`^(?:[^]*?HTTP/1\\.1 [2-5]){${n}}`)).catch(() => undefined);
    const places = [0, ...cuts.map((cut) => Math.floor(cut * text.length)).sort((a, b) => a - b), text.length];
    for (const [at, end] of places.slice(1).entries()) {
      const piece = text.slice(places[at], end);
      if (piece === '' || !socket.writable) continue;
      connection.send(piece);
      sent += piece.length;
      await nextTurn();
      await nextTurn();
    }
  }
  if (ending === 'destroys') socket.destroy();
  if (ending === 'resets') socket.resetAndDestroy();
  if (ending === 'half-closes') socket.end();
  const received = await connection.untilClosed();
  assert.ok(!isStuck, `the connection stays open after ${JSON.stringify(received)}`);
  return { sent, received };
}
