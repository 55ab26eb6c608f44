const minRedrawMs = 100;
const clearRest = '\u001b[K';

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const rounded = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });

/** Shows the progress of a command on standard error: on a terminal, a line with the count and the rate. */
export class Progress {
  readonly #unit: string;
  readonly #startMs = performance.now();
  #drawnMs = -Infinity;

  /** `unit` is the singular name of the counted items. */
  constructor(unit: string) {
    this.#unit = unit;
  }

  update(count: number): void {
    const now = performance.now();
    if (!process.stderr.isTTY || now - this.#drawnMs < minRedrawMs) return;
    this.#drawnMs = now;
    const rate = perSecond(count, now - this.#startMs);
    process.stderr.write(`\r${counted(count, this.#unit)}  ${rate}${clearRest}`);
  }

  /** Replaces the progress line with a permanent line. The next update draws the progress line again. */
  tell(line: string): void {
    process.stderr.write(`${this.#drawnMs === -Infinity ? '' : `\r${clearRest}`}${line}\n`);
    this.#drawnMs = -Infinity;
  }

  /** Replaces the progress line with a summary, which ends with `rest`. */
  finish(verb: string, count: number, rest = ''): void {
    const elapsedMs = performance.now() - this.#startMs;
    const rate = count === 0 ? '' : ` (${perSecond(count, elapsedMs)})`;
    this.tell(`${verb} ${counted(count, this.#unit)} in ${(elapsedMs / 1000).toFixed(1)} s${rate}${rest}.`);
  }
}

/** Formats a number, with its unit if given, such as `1 plant` or `2,000 plants`. `unit` must be in the singular. */
export function counted(count: number, unit?: string): string {
  return `${whole.format(count)}${unit === undefined ? '' : ` ${unit}${count === 1 ? '' : 's'}`}`;
}

function perSecond(count: number, elapsedMs: number): string {
  return `${rounded.format(count / Math.max(elapsedMs / 1000, 0.001))} a second`;
}
