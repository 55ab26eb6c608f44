import { subscribe } from 'node:diagnostics_channel';
import { fstatSync, write, writeSync } from 'node:fs';
import type { Server } from 'node:http';
import { setTimeout } from 'node:timers';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { errorText } from '../boundary/error-text.ts';
import { isPlantStoreError } from '../core/model/errors.ts';
import type { EvictionMessage } from '../http/node/connections.ts';
import type { RequestMessage } from '../http/trace.ts';
import { describeError } from './errors.ts';
import { formatCount, printable } from './process.ts';

export type LogFormat = 'json' | 'pretty';
type Level = 'info' | 'error';
type Fields = Readonly<Record<string, string | number | undefined>>;
type LogEntry = Fields & { readonly level: Level; readonly message: string };

const repeatMs = 1000;

export class Log {
  readonly #format: LogFormat;
  readonly hasInfo: boolean;
  readonly #output: Pick<Output, 'write' | 'flush'>;
  /** The number of repetitions of each error since it was logged. */
  readonly #repeats = new Map<string, number>();

  constructor(format: LogFormat, level: Level, output: Pick<Output, 'write' | 'flush'> = new Output(process.stderr)) {
    this.#format = format;
    this.hasInfo = level !== 'error';
    this.#output = output;
  }

  info(message: string, fields: Fields = {}): void {
    if (this.hasInfo) this.#write({ level: 'info', message, ...fields });
  }

  /**
   * Logs an error with its causes. An unexpected error is logged with its stack. Repetitions within a second are logged
   * as one entry, because every request fails while the storage is unavailable.
   */
  error(event: string, error?: unknown, requestId?: string): void {
    const message = error === undefined ? event : `${event}: ${describeError(error)}`;
    const repeats = this.#repeats.get(message);
    if (repeats !== undefined) {
      this.#repeats.set(message, repeats + 1);
      return;
    }
    if (this.#repeats.size === 0) setTimeout(this.#reportRepeats.bind(this), repeatMs).unref();
    this.#repeats.set(message, 0);
    const isExpected = error === undefined || isPlantStoreError(error);
    this.#write({ level: 'error', message, requestId, error: isExpected ? undefined : errorText(error) });
  }

  /** Logs a request that has ended. A list that an error ended early is logged as an error, even with status 200. */
  request(message: RequestMessage): void {
    this.#write({
      level: message.code === 'incomplete' ? 'error' : 'info',
      message: 'request',
      requestId: message.requestId,
      traceId: message.traceparent?.slice(3, 35),
      client: message.client,
      user: message.user,
      tokenId: message.tokenId,
      method: message.method,
      path: message.unmatchedPath ?? message.path,
      operation: message.operation,
      status: message.status,
      code: message.code,
      durationMs: Math.round(message.durationMs * 1000) / 1000,
      end: message.isComplete ? undefined : 'incomplete',
    });
  }

  flush(): Promise<boolean> {
    this.#reportRepeats();
    return this.#output.flush();
  }

  #reportRepeats(): void {
    for (const [message, count] of this.#repeats) {
      if (count > 0) this.#write({ level: 'error', message: `Repeated ${formatCount(count, 'time')}: ${message}` });
    }
    this.#repeats.clear();
  }

  #write(entry: LogEntry): void {
    this.#output.write(`${this.#format === 'pretty' ? pretty(entry) : json(entry)}\n`);
  }
}

export function logEvents(server: Server, log: Log): void {
  // Without a subscriber, the service does not spend time on tracing.
  if (log.hasInfo) {
    subscribe('tracing:plant-store:request:asyncEnd', (message) => {
      log.request(message as RequestMessage);
    });
  }
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException) => {
    // Other codes mean that a client disconnected.
    if (/^HPE_(?!INVALID_EOF_STATE)|^ERR_HTTP_REQUEST_TIMEOUT/.test(code)) log.info('refused', { code });
  });
  const limit = `at most ${server.maxConnections} connections may be open`;
  server.on('drop', () => {
    log.error(`A connection was closed: ${limit}.`);
  });
  subscribe('plant-store:connection:evicted', (message) => {
    if ((message as EvictionMessage).server !== server) return;
    log.error(`The least recently active connection was closed to make room: ${limit}.`);
  });
}

export function jsonError(message: string): string {
  return `${json({ level: 'error', message })}\n`;
}

function json(entry: LogEntry): string {
  return `{"time":"${new Date().toISOString()}",${JSON.stringify(entry).slice(1)}`;
}

function pretty({ level, message, error, ...fields }: LogEntry): string {
  const { method, path, status, durationMs = 0, end, code, user, requestId } = fields;
  const who = user === undefined ? undefined : printable(String(user));
  const result = [status, code, `${Number(durationMs).toFixed(1)} ms`, end, who];
  const parts = method === undefined ? [message, code, requestId] : [method, path, ...result, requestId];
  const text = parts.filter((part) => part !== undefined).join(' ');
  const clock = new Date().toTimeString().slice(0, 8);
  return `${clock} ${level === 'error' ? 'ERROR ' : ''}${text}${error === undefined ? '' : `\n${error}`}`;
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
      const bytes = Buffer.from(this.#unwritten);
      this.#unwritten = '';
      let offset = 0;
      while (offset < bytes.length) offset += await this.#writeSome(bytes.subarray(offset));
    }
    this.#writing = undefined;
  }

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
