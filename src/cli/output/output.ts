import { fstatSync, write, writeSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** How much text may wait while the descriptor is not read. Further text is dropped. */
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

  /** Writes at most once per event loop iteration. */
  write(text: string): void {
    if (this.#unwritten.length > maxUnwrittenLength) return;
    this.#unwritten += text;
    this.#writing ??= this.#writeAll();
  }

  /** Waits up to a second. Returns false if a thread still writes, for which `process.exit()` would wait. */
  flush(): Promise<boolean> {
    const late = sleep(flushMs, this.#isPipe, { ref: false });
    return Promise.race([Promise.resolve(this.#writing).then(() => true), late]);
  }

  async #writeAll(): Promise<void> {
    while (this.#unwritten !== '') {
      await nextTurn();
      const bytes = Buffer.from(this.#unwritten);
      this.#unwritten = '';
      let offset = 0;
      while (offset < bytes.length) offset += await this.#writeSome(bytes.subarray(offset));
    }
    this.#writing = undefined;
  }

  /** Returns the number of bytes that were written or dropped. */
  async #writeSome(bytes: Buffer): Promise<number> {
    try {
      if (this.#isPipe) return writeSync(this.#descriptor, bytes);
      return (await writeInPool(this.#descriptor, bytes)).bytesWritten;
    } catch (error) {
      // After another error, such as a closed pipe or a full disk, a later write may succeed.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return bytes.length;
      await sleep(retryMs);
      return 0;
    }
  }
}
