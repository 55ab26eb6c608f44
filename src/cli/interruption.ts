import { constants } from 'node:os';
import { setTimeout } from 'node:timers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { tell } from './print.ts';

/** Signals within this interval count as one. If npm runs a command, Ctrl-C causes two: npm forwards the signal. */
const sameSignalMs = 100;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs `work` with an `AbortSignal`. SIGINT, SIGTERM and, on a terminal, SIGHUP abort it, with the signal's name as the
 * reason. `work` may throw the reason only if it has changed nothing. A second signal ends the process.
 */
export async function runInterruptibly(work: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
  const interruption = new AbortController();
  const stopListening = (): void => {
    for (const name of signals) process.off(name, onSignal);
  };
  const onSignal = (name: NodeJS.Signals): void => {
    if (name === 'SIGHUP' && !hasTerminal) return;
    interruption.abort(name);
    setTimeout(stopListening, sameSignalMs).unref();
  };
  for (const name of signals) process.on(name, onSignal);
  try {
    return await work(interruption.signal);
  } catch (error) {
    if (error !== interruption.signal.reason) throw error;
    tell('plant-store: Interrupted: nothing was changed.');
    return exitCodeOf(interruption.signal);
  } finally {
    stopListening();
  }
}

export function exitCodeOf({ reason }: AbortSignal): number {
  return 128 + constants.signals[reason as NodeJS.Signals];
}

export async function* untilAborted<Page>(pages: AsyncIterable<Page>, signal: AbortSignal): AsyncGenerator<Page, void> {
  for await (const page of pages) {
    // Without this turn of the event loop, a copy between two SQLite files would not notice the signal.
    await nextTurn();
    if (signal.aborted) return;
    yield page;
  }
}
