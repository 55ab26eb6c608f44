import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorText } from '../../model/error-text.ts';
import { findRoute, splitTarget } from '../../http/routes.ts';
import { errorSummary } from './error-summary.ts';

/** The forms a log can take. */
export const logFormats = ['json', 'pretty', 'off'] as const;
export type LogFormat = (typeof logFormats)[number];

/** One line of the log. */
interface LogEntry {
  readonly level: 'info' | 'error';
  readonly message: string;
  readonly [field: string]: string | number | undefined;
}

/** So much may wait for a reader of standard error that does not read; what comes then is dropped and counted. */
const maxUnwrittenBytes = 1_048_576;

/** For how long an error that is reported again is only counted. */
const repeatMs = 1000;

/** Writes the log to standard error, the lines of one turn of the event loop at once. */
export class Log {
  readonly #format: LogFormat;
  /** How often each error came again since it was reported. */
  readonly #repeats = new Map<string, number>();
  #lines = '';
  #dropped = 0;
  #timeMs = NaN;
  #time = '';

  constructor(format: LogFormat) {
    this.#format = format;
  }

  info(message: string): void {
    this.#write({ level: 'info', message });
  }

  /**
   * An error with its stack and those of its causes. Tokens are never in them. One that comes again
   * within a second is counted: a storage that is down fails every request.
   */
  error(message: string, error?: unknown): void {
    const key = error === undefined ? message : `${message}: ${errorSummary(error)}`;
    const repeats = this.#repeats.get(key);
    if (repeats !== undefined) {
      this.#repeats.set(key, repeats + 1);
      return;
    }
    if (this.#repeats.size === 0) setTimeout(() => { this.#reportRepeats(); }, repeatMs).unref();
    this.#repeats.set(key, 0);
    this.#write({ level: 'error', message, error: error === undefined ? undefined : errorText(error) });
  }

  /**
   * Logs one line when the response has been sent. It names the route and not the path, because
   * clients put secrets there, as in `http://ada:password@host/plants` or `/plants;token=…`.
   */
  request(request: IncomingMessage, response: ServerResponse): void {
    const start = performance.now();
    response.on('close', () => {
      this.#write({
        level: 'info',
        message: 'request',
        method: knownMethod(request.method ?? ''),
        ...routeOf(request.url ?? ''),
        status: response.headersSent ? response.statusCode : undefined,
        ms: Math.round((performance.now() - start) * 10) / 10,
        end: response.writableFinished ? undefined : 'client gone',
      });
    });
  }

  /** What node:http refused by itself, by its own code. Clients that go away do not count. */
  refusal({ code = '' }: NodeJS.ErrnoException): void {
    if (/^HPE_(?!INVALID_EOF_STATE)|^ERR_HTTP_REQUEST_TIMEOUT/.test(code)) this.#write({ level: 'info', message: 'refused', code });
  }

  #reportRepeats(): void {
    for (const [key, count] of this.#repeats) {
      if (count > 0) this.#write({ level: 'error', message: `${count} times more: ${key}` });
    }
    this.#repeats.clear();
  }

  #write(entry: LogEntry): void {
    if (this.#format === 'off') return;
    if (this.#lines === '') setImmediate(() => { this.#writeOut(); });
    this.#lines += this.#format === 'json' ? `{"time":"${this.#isoTime()}",${JSON.stringify(entry).slice(1)}\n` : `${pretty(new Date(), entry)}\n`;
  }

  #reportDropped(): void {
    const message = `${this.#dropped} lines were dropped: nobody read them`;
    this.#dropped = 0;
    this.#write({ level: 'error', message });
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
    this.#reportRepeats();
    this.#writeOut();
  }

  #writeOut(): void {
    if (this.#lines === '') return;
    if (process.stderr.writableLength > maxUnwrittenBytes) {
      this.#dropped += this.#lines.split('\n').length - 1;
    } else {
      process.stderr.write(this.#lines);
    }
    this.#lines = '';
    if (this.#dropped > 0 && process.stderr.writableLength <= maxUnwrittenBytes) this.#reportDropped();
  }
}

/** The methods of RFC 9110 and PATCH. The name of another method is a text of the client. */
const knownMethods: ReadonlySet<string> = new Set([
  'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH',
]);

function knownMethod(method: string): string {
  return knownMethods.has(method) ? method : 'other';
}

/** The route of a request target, or the number of characters of a path that has none. */
function routeOf(target: string): { readonly route: string } | { readonly pathLength: number } {
  const { path } = splitTarget(target);
  const match = findRoute(path);
  return match === undefined ? { pathLength: path.length } : { route: match.route.path };
}

function pretty(time: Date, { level, message, error, ...fields }: LogEntry): string {
  const { method, route, pathLength, status, ms, end, code } = fields;
  const where = route ?? `(no route, ${pathLength ?? 0} characters)`;
  const parts = method === undefined ? [message, code] : [method, where, status, `${ms ?? ''} ms`, end];
  const text = parts.filter((part) => part !== undefined).join(' ');
  return `${time.toTimeString().slice(0, 8)} ${level === 'error' ? 'ERROR ' : ''}${text}${error === undefined ? '' : `\n${error}`}`;
}
