import { fstatSync, readSync, statSync, write, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout } from 'node:timers';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Thrown if the program that reads standard output, such as `head`, has closed it. */
export class ClosedPipeError extends Error {}

/** Writes to standard output. Rejects if the text was not written. */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (cause?: NodeJS.ErrnoException | null) => {
      if (!cause) resolve();
      else if (cause.code === 'EPIPE') reject(new ClosedPipeError(cause.message));
      else reject(new Error(`Standard output cannot be written: ${cause.message}.`, { cause }));
    });
  });
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

/** The maximum length of unwritten text, in UTF-16 code units. Further text is dropped. */
const maxUnwrittenLength = 1_048_576;
const retryMs = 10;
const flushMs = 1000;

const writeInPool = promisify(write);

/**
 * Writes to standard output or standard error without blocking the event loop. `process.stdout` and `process.stderr`
 * block it at a terminal that was stopped with Ctrl-S, and at a file on a disk that hangs.
 */
export class Output {
  readonly #descriptor: number;
  /** Node.js has set pipes and sockets to non-blocking mode, so writing to them on this thread never blocks. */
  readonly #isPipe: boolean;
  #unwritten = '';
  #writing: Promise<void> | undefined;

  constructor({ fd }: { readonly fd: number }) {
    this.#descriptor = fd;
    const stats = fstatSync(fd);
    this.#isPipe = stats.isFIFO() || stats.isSocket();
  }

  write(text: string): void {
    if (this.#unwritten.length > maxUnwrittenLength) return;
    this.#unwritten += text;
    this.#writing ??= this.#writeAll();
  }

  /** Waits up to a second. Resolves with `false` if a thread is still writing: `process.exit()` would wait for it. */
  flush(): Promise<boolean> {
    const late = sleep(flushMs, this.#isPipe, { ref: false });
    return Promise.race([Promise.resolve(this.#writing).then(() => true), late]);
  }

  async #writeAll(): Promise<void> {
    while (this.#unwritten !== '') {
      await nextTurn();
      let bytes: Buffer = Buffer.from(this.#unwritten);
      this.#unwritten = '';
      while (bytes.length > 0) bytes = bytes.subarray(await this.#writeSome(bytes));
    }
    this.#writing = undefined;
  }

  /** Returns the number of bytes that were written or dropped. */
  async #writeSome(bytes: Buffer): Promise<number> {
    try {
      if (this.#isPipe) return writeSync(this.#descriptor, bytes);
      return (await writeInPool(this.#descriptor, bytes)).bytesWritten;
    } catch (error) {
      // After any other error, such as a closed pipe or a full disk, the text is dropped. A later write may succeed.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return bytes.length;
      await sleep(retryMs);
      return 0;
    }
  }
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

/**
 * Runs `work` with an `AbortSignal`. SIGINT, SIGTERM and, on a terminal, SIGHUP abort it, with the signal's name as the
 * reason. A second signal ends the process. Without a terminal, SIGHUP is ignored until the process ends.
 */
export async function runInterruptibly<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
  const signals: NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];
  if (hasTerminal) signals.push('SIGHUP');
  else process.on('SIGHUP', () => undefined);
  const interruption = new AbortController();
  const stopListening = (): void => {
    for (const name of signals) process.off(name, onSignal);
  };
  const onSignal = (name: NodeJS.Signals): void => {
    interruption.abort(name);
    setTimeout(stopListening, sameSignalMs).unref();
  };
  for (const name of signals) process.on(name, onSignal);
  try {
    return await work(interruption.signal);
  } finally {
    // After a signal, the process may end before npm forwards the signal, so the timer removes the listeners.
    if (!interruption.signal.aborted) stopListening();
  }
}

export function exitCodeOf(signal: string): number {
  return 128 + constants.signals[signal as NodeJS.Signals];
}
