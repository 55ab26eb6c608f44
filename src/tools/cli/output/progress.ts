export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface ProgressOptions {
  /** The name of the counted items, in the plural; default `plants`. */
  readonly unit?: string;
  /** The total number of items; `undefined` if unknown. */
  readonly total?: number | undefined;
  /** Whether to show a bar on a terminal; default `true`. */
  readonly isShown?: boolean;
}

const minRedrawMs = 100;
const maxBarWidth = 30;
const minBarWidth = 5;
const clearRest = '\u001b[K';

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const rounded = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });

/**
 * Shows the progress of a command. If the stream is a terminal, draws one line and redraws it at most 10 times a
 * second. If the total is known, the line contains a bar and the remaining time.
 */
export class Progress {
  readonly #stream: ProgressStream;
  readonly #unit: string;
  readonly #total: number | undefined;
  readonly #isShown: boolean;
  readonly #startMs = performance.now();
  #drawnMs = -Infinity;

  constructor(
    { unit = 'plants', total, isShown = true }: ProgressOptions = {},
    stream: ProgressStream = process.stderr,
  ) {
    this.#stream = stream;
    this.#unit = unit;
    this.#total = total;
    this.#isShown = isShown && stream.isTTY === true;
  }

  /**
   * Updates the count and the completed fraction (0 to 1). By default, the fraction is the count divided by the total.
   */
  update(count: number, part: number | undefined = this.#total && count / this.#total): void {
    const now = performance.now();
    if (!this.#isShown || now - this.#drawnMs < minRedrawMs) return;
    this.#drawnMs = now;
    this.#stream.write(`\r${this.#line(count, part, now - this.#startMs)}${clearRest}`);
  }

  /** Writes a permanent line in place of the bar. The next update draws the bar again. */
  tell(line: string): void {
    this.#stream.write(`${this.#drawnMs === -Infinity ? '' : `\r${clearRest}`}${line}\n`);
    this.#drawnMs = -Infinity;
  }

  /** Replaces the bar with a summary: the verb, the count, the elapsed time, the rate, and the rest of the sentence. */
  finish(verb: string, count: number, rest = ''): void {
    const elapsedMs = performance.now() - this.#startMs;
    const rate = count === 0 ? '' : ` (${perSecond(count, elapsedMs)})`;
    const items = counted(count, this.#unit.replace(/s$/, ''));
    this.tell(`${verb} ${items} in ${(elapsedMs / 1000).toFixed(1)} s${rate}${rest}.`);
  }

  #line(count: number, part: number | undefined, elapsedMs: number): string {
    const columns = this.#stream.columns ?? 80;
    const counts = [`${whole.format(count)} ${this.#unit}`, perSecond(count, elapsedMs)];
    if (part === undefined) return fitting(counts, columns);
    // The count can exceed the total if other clients add plants while the command runs.
    const done = Math.min(1, part);
    const percent = `${String(Math.floor(done * 100)).padStart(3)} %`;
    const left = done === 0 ? [] : [`${duration((elapsedMs * (1 - done)) / done)} left`];
    const text = fitting([percent, ...counts, ...left], columns);
    const width = Math.min(maxBarWidth, columns - text.length - 4);
    return width < minBarWidth ? text : `[${'#'.repeat(done * width).padEnd(width, '.')}] ${text}`;
  }
}

/**
 * Joins as many parts as fit on one line. No part is truncated, because a truncated number would look like a smaller
 * number.
 */
function fitting(parts: string[], columns: number): string {
  const kept: string[] = [];
  for (const part of parts) {
    if ([...kept, part].join('  ').length >= columns) break;
    kept.push(part);
  }
  return kept.join('  ');
}

/**
 * Formats a number, followed by its unit if one is given: for example, `1 plant` or `2,000 plants`. `unit` is in the
 * singular.
 */
export function counted(count: number, unit?: string): string {
  return `${whole.format(count)}${unit === undefined ? '' : ` ${unit}${count === 1 ? '' : 's'}`}`;
}

function perSecond(count: number, elapsedMs: number): string {
  return `${rounded.format(count / Math.max(elapsedMs / 1000, 0.001))} a second`;
}

/** Formats a duration as `m:ss` or `h:mm:ss`. */
function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const twoDigits = (value: number): string => String(value).padStart(2, '0');
  return `${hours === 0 ? minutes : `${hours}:${twoDigits(minutes)}`}:${twoDigits(seconds % 60)}`;
}
