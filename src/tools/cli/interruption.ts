import { constants } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Thrown to stop a command after a signal. */
export class InterruptedError extends Error {}

/**
 * Runs `work` with an `AbortSignal`, so that the command can clean up after SIGINT, SIGTERM or SIGHUP. The signal's
 * reason is the exit code: 128 plus the number of the signal, as in shells. A second signal ends the process.
 */
export async function interruptible(work: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const interruption = new AbortController();
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const onSignal = (name: NodeJS.Signals): void => {
    for (const each of names) process.off(each, onSignal);
    interruption.abort(128 + constants.signals[name]);
  };
  for (const name of names) process.on(name, onSignal);
  try {
    return await work(interruption.signal);
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error;
    process.stderr.write(`plant-store: ${error.message}\n`);
    return Number(interruption.signal.reason);
  } finally {
    for (const name of names) process.off(name, onSignal);
  }
}

/** Yields the pages until the signal is aborted. */
export async function* untilAborted<Page>(pages: AsyncIterable<Page>, signal: AbortSignal): AsyncGenerator<Page, void> {
  for await (const page of pages) {
    // Without this turn of the event loop, a copy between two SQLite files would not notice the signal.
    await nextTurn();
    if (signal.aborted) return;
    yield page;
  }
}
