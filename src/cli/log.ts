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
  #lines: string[] = [];

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
    response.once('close', () => {
      this.#write({
        level: 'info',
        message: 'request',
        method: request.method,
        path: request.url?.split('?', 1)[0]?.slice(0, 200),
        status: response.headersSent ? response.statusCode : undefined,
        ms: Math.round((performance.now() - start) * 10) / 10,
        end: response.writableFinished ? undefined : 'client gone',
      });
    });
  }

  #write(entry: LogEntry): void {
    if (this.#format === 'off') return;
    if (this.#lines.length === 0) setImmediate(() => { this.flush(); });
    const time = new Date();
    this.#lines.push(this.#format === 'json' ? JSON.stringify({ time, ...entry }) : pretty(time, entry));
  }

  /** Writes what is waiting. */
  flush(): void {
    if (this.#lines.length === 0) return;
    process.stderr.write(`${this.#lines.join('\n')}\n`);
    this.#lines = [];
  }
}

function pretty(time: Date, { level, message, error, ...fields }: LogEntry): string {
  const { method, path, status, ms, end } = fields;
  const text = method === undefined ? message : [method, path, status, `${ms ?? ''} ms`, end].filter((part) => part !== undefined).join(' ');
  return `${time.toTimeString().slice(0, 8)} ${level === 'error' ? 'ERROR ' : ''}${text}${error === undefined ? '' : `\n${error}`}`;
}
