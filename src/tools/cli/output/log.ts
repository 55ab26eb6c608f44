import type { RequestMessage } from '../../../core/model/diagnostics.ts';
import { errorText } from '../../../core/model/error-text.ts';
import { withAdvice } from '../advice.ts';
import { errorSummary } from './error-summary.ts';
import { printable } from './printable.ts';

export const logFormats = ['json', 'pretty', 'off'] as const;
export type LogFormat = (typeof logFormats)[number];

interface LogEntry {
  readonly level: 'info' | 'error';
  readonly message: string;
  readonly [field: string]: string | number | undefined;
}

/** The maximum size of the buffer if standard error is not read. Further lines are dropped and counted. */
const maxUnwrittenBytes = 1_048_576;

/** For this many milliseconds after an error has been logged, its repetitions are only counted. */
const repeatMs = 1000;

/** The methods that RFC 9110 defines, and PATCH. */
const knownMethods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'];

/** Checks whether a `clientError` means that node:http rejected a request, and not that a client disconnected. */
export function isRejectedInput({ code = '' }: NodeJS.ErrnoException): boolean {
  return /^HPE_(?!INVALID_EOF_STATE)|^ERR_HTTP_REQUEST_TIMEOUT/.test(code);
}

/** Writes the log to standard error, with at most one write per event loop iteration. */
export class Log {
  readonly #format: LogFormat;
  /** The number of repetitions of each error since it was logged. */
  readonly #repeats = new Map<string, number>();
  #lines: string[] = [];
  #dropped = 0;

  constructor(format: LogFormat) {
    this.#format = format;
  }

  info(message: string): void {
    this.#write({ level: 'info', message });
  }

  /**
   * Logs an error with its reason, its stack, the stacks of its causes, and advice for the operator. None of these
   * texts ever contains a token. Repetitions within a second are only counted, because every request fails while the
   * storage is unavailable. `requestId` is the id of the request that failed.
   */
  error(event: string, error?: unknown, requestId?: string): void {
    const message = error === undefined ? event : withAdvice(`${event}: ${errorSummary(error)}`, error);
    const repeats = this.#repeats.get(message);
    if (repeats !== undefined) {
      this.#repeats.set(message, repeats + 1);
      return;
    }
    if (this.#repeats.size === 0) setTimeout(this.#reportRepeats.bind(this), repeatMs).unref();
    this.#repeats.set(message, 0);
    this.#write({ level: 'error', message, requestId, error: error === undefined ? undefined : errorText(error) });
  }

  /**
   * Logs a request that has ended. The line contains the path template from the OpenAPI document, not the requested
   * path, because a requested path can contain secrets, as in `http://ada:password@host/plants` or `/plants;token=…`.
   * For the same reason, an unknown method is logged as `other`.
   */
  request(message: RequestMessage): void {
    const { requestId, traceparent, client, user, tokenId, method, path, operation } = message;
    const { status, code, durationMs, bytes, isComplete } = message;
    this.#write({
      level: 'info',
      message: 'request',
      requestId,
      traceId: traceparent?.slice(3, 35),
      client,
      user,
      tokenId,
      method: knownMethods.includes(method) ? method : 'other',
      path,
      operation,
      status,
      code,
      durationMs: Math.round(durationMs * 1000) / 1000,
      bytes,
      end: isComplete ? undefined : 'incomplete',
    });
  }

  /** Logs the error code of a request that node:http itself rejected. */
  rejection(code: string | undefined): void {
    this.#write({ level: 'info', message: 'refused', code });
  }

  /** Writes all buffered lines. */
  flush(): void {
    this.#reportRepeats();
    this.#writeOut();
  }

  #reportRepeats(): void {
    for (const [message, count] of this.#repeats) {
      if (count > 0) this.#write({ level: 'error', message: `${count} times more: ${message}` });
    }
    this.#repeats.clear();
  }

  #write(entry: LogEntry): void {
    if (this.#format === 'off') return;
    if (this.#lines.length === 0) setImmediate(this.#writeOut.bind(this));
    this.#lines.push(this.#format === 'pretty' ? pretty(entry) : json(entry));
  }

  #writeOut(): void {
    if (this.#lines.length === 0) return;
    const lines = this.#lines;
    this.#lines = [];
    if (process.stderr.writableLength > maxUnwrittenBytes) {
      this.#dropped += lines.length;
      return;
    }
    process.stderr.write(`${lines.join('\n')}\n`);
    if (this.#dropped === 0) return;
    const message = `${this.#dropped} lines were dropped because standard error was not read`;
    this.#dropped = 0;
    this.#write({ level: 'error', message });
  }
}

function json(entry: LogEntry): string {
  return `{"time":"${new Date().toISOString()}",${JSON.stringify(entry).slice(1)}`;
}

function pretty({ level, message, error, ...fields }: LogEntry): string {
  const { method, path, status, durationMs = 0, end, code, user, requestId } = fields;
  const who = user === undefined ? undefined : printable(String(user));
  const place = path === '' ? '(no route)' : path;
  const duration = `${Number(durationMs).toFixed(1)} ms`;
  const parts =
    method === undefined ? [message, code, requestId] : [method, place, status, code, duration, end, who, requestId];
  const text = parts.filter((part) => part !== undefined).join(' ');
  const clock = new Date().toTimeString().slice(0, 8);
  return `${clock} ${level === 'error' ? 'ERROR ' : ''}${text}${error === undefined ? '' : `\n${error}`}`;
}
