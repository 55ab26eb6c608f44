import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import { setTimeout } from 'node:timers';
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
  readonly #print: (text: string) => void;
  /** The number of repetitions of each error since it was logged. */
  readonly #repeats = new Map<string, number>();

  constructor(format: LogFormat, level: Level, print: (text: string) => void) {
    this.#format = format;
    this.hasInfo = level !== 'error';
    this.#print = print;
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
    if (this.#repeats.size === 0) setTimeout(this.reportRepeats.bind(this), repeatMs).unref();
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

  /** Logs how often each error was repeated, and stops counting. */
  reportRepeats(): void {
    for (const [message, count] of this.#repeats) {
      if (count > 0) this.#write({ level: 'error', message: `Repeated ${formatCount(count, 'time')}: ${message}` });
    }
    this.#repeats.clear();
  }

  #write(entry: LogEntry): void {
    this.#print(`${this.#format === 'pretty' ? pretty(entry) : json(entry)}\n`);
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
