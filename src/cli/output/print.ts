import { fstatSync, readSync, statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { formatCount } from './text.ts';

/** Thrown if the program that reads standard output, such as `head`, has closed it. */
export class ClosedPipeError extends Error {}

const write = promisify((text: string, done: (error?: Error | null) => void) => process.stdout.write(text, done));

/** Writes to standard output. Rejects if the text was not written. */
export async function print(text: string): Promise<void> {
  if (isClosed()) throw new Error('Standard output is closed.');
  try {
    await write(text);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EPIPE') throw new ClosedPipeError(message, { cause });
    throw new Error(`Standard output cannot be written: ${message}.`, { cause });
  }
}

/** If standard output is closed at the start, Node.js opens /dev/null in its place, for reading and writing. */
function isClosed(): boolean {
  const device = statSync('/dev/null', { throwIfNoEntry: false });
  if (fstatSync(1).rdev !== device?.rdev) return false;
  try {
    readSync(1, Buffer.alloc(1));
    return true;
  } catch {
    // A shell opens the device only for writing.
    return false;
  }
}

const rewriteMs = 1000;
const clearLine = '\r\u001b[K';
let hasProgressLine = false;

/** Writes lines to standard error. Removes the line of a {@link Progress}. */
export function tell(text: string): void {
  process.stderr.write(`${hasProgressLine ? clearLine : ''}${text}\n`);
  hasProgressLine = false;
}

/** If standard error is a terminal, shows how far a command is, on one line that is rewritten each second. */
export class Progress {
  readonly #unit: string;
  readonly #startedAt = performance.now();
  #shownAt = this.#startedAt;

  constructor(unit: string) {
    this.#unit = unit;
  }

  show(total: number): void {
    const now = performance.now();
    if (!process.stderr.isTTY || now - this.#shownAt < rewriteMs) return;
    this.#shownAt = now;
    const perSecond = Math.round((total * 1000) / (now - this.#startedAt));
    const text = `${formatCount(total, this.#unit)}, ${formatCount(perSecond, this.#unit)} per second`;
    process.stderr.write(`${clearLine}${text}`);
    hasProgressLine = true;
  }
}
