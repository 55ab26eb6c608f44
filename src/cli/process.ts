import { fstatSync, readSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout } from 'node:timers';
import { promisify } from 'node:util';

/** Thrown if the program that reads standard output, such as `head`, has closed it. */
export class ClosedPipeError extends Error {}

const write = promisify((text: string, done: (error?: Error | null) => void) => process.stdout.write(text, done));

/** Writes to standard output. Rejects if the text was not written. */
export async function print(text: string): Promise<void> {
  try {
    await write(text);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EPIPE') throw new ClosedPipeError(message, { cause });
    throw new Error(`Standard output cannot be written: ${message}.`, { cause });
  }
}

/**
 * Throws an error if standard output was closed at the start. Node.js then opens /dev/null in its place, for reading
 * and writing. With `> /dev/null`, which is allowed, a shell opens it only for writing.
 */
export function requireOutput(): void {
  if (fstatSync(1).rdev !== statSync('/dev/null', { throwIfNoEntry: false })?.rdev) return;
  try {
    readSync(1, Buffer.alloc(1));
  } catch {
    return;
  }
  throw new Error('Standard output is closed or discarded.');
}

export function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}

/**
 * Makes a string safe to print as one line on a terminal. Replaces control characters, format controls such as U+202E
 * (which reverses the text after it), and line and paragraph separators with `\u` and the code point.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u${character.codePointAt(0)?.toString(16).padStart(4, '0')}`;
  });
}

/** Quotes a string for a POSIX shell, if necessary. */
export function shellQuoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Formats a number and its unit, such as `1 plant` or `2,000 plants`. `unit` must be in the singular. */
export function formatCount(count: number, unit: string): string {
  return `${count.toLocaleString('en-US')} ${unit}${count === 1 ? '' : 's'}`;
}

/** Signals within this interval count as one. If npm runs a command, Ctrl-C causes two: npm forwards the signal. */
const sameSignalMs = 100;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs `work` with an `AbortSignal`. SIGINT, SIGTERM and, on a terminal, SIGHUP abort it, with the signal's name as the
 * reason. A second signal ends the process.
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
  } finally {
    stopListening();
  }
}

export function exitCodeOf(signal: string): number {
  return 128 + constants.signals[signal as NodeJS.Signals];
}
