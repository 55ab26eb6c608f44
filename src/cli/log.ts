import type { IncomingMessage, ServerResponse } from 'node:http';
import { inspect } from 'node:util';

/** The forms a log can take. */
export const logFormats = ['json', 'pretty', 'off'] as const;
export type LogFormat = (typeof logFormats)[number];

/** One line of the log. */
interface LogEntry {
  readonly level: 'info' | 'error';
  readonly message: string;
  readonly [field: string]: string | number | undefined;
}

/** Writes the log to standard error, the lines of one turn of the event loop at once. */
export class Log {
  readonly #format: LogFormat;
  #lines = '';
  #timeMs = NaN;
  #time = '';

  constructor(format: LogFormat) {
    this.#format = format;
  }

  info(message: string): void {
    this.#write({ level: 'info', message });
  }

  /** An error with its stack and those of its causes. Tokens are never in them. */
  error(message: string, error?: unknown): void {
    this.#write({ level: 'error', message, error: error === undefined ? undefined : inspect(error) });
  }

  /** One line when the answer is out; the query is left out, since people put secrets there. */
  request(request: IncomingMessage, response: ServerResponse): void {
    const start = performance.now();
    response.on('close', () => {
      this.#write({
        level: 'info',
        message: 'request',
        method: request.method,
        path: pathOf(request.url ?? ''),
        status: response.headersSent ? response.statusCode : undefined,
        ms: Math.round((performance.now() - start) * 10) / 10,
        end: response.writableFinished ? undefined : 'client gone',
      });
    });
  }

  #write(entry: LogEntry): void {
    if (this.#format === 'off') return;
    if (this.#lines === '') setImmediate(() => { this.flush(); });
    this.#lines += this.#format === 'json' ? `{"time":"${this.#isoTime()}",${JSON.stringify(entry).slice(1)}\n` : `${pretty(new Date(), entry)}\n`;
  }

  /** The time of day in ISO 8601, made once a millisecond. */
  #isoTime(): string {
    const now = Date.now();
    if (now !== this.#timeMs) {
      this.#timeMs = now;
      this.#time = new Date(now).toISOString();
    }
    return this.#time;
  }

  /** Writes what is waiting. */
  flush(): void {
    if (this.#lines === '') return;
    process.stderr.write(this.#lines);
    this.#lines = '';
  }
}

/** At most 200 characters of it. */
function pathOf(target: string): string {
  const queryAt = target.indexOf('?');
  return target.slice(0, Math.min(200, queryAt === -1 ? target.length : queryAt));
}

function pretty(time: Date, { level, message, error, ...fields }: LogEntry): string {
  const { method, path, status, ms, end } = fields;
  const text = method === undefined ? message : [method, path, status, `${ms ?? ''} ms`, end].filter((part) => part !== undefined).join(' ');
  return `${time.toTimeString().slice(0, 8)} ${level === 'error' ? 'ERROR ' : ''}${text}${error === undefined ? '' : `\n${error}`}`;
}
