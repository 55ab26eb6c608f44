const minRedrawMs = 100;
const clearRest = '\u001b[K';

const format = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** Shows the progress of a command on standard error: on a terminal, a line with the count. */
export class Progress {
  /** The singular name of the counted items. */
  readonly #unit: string;
  readonly #startMs = performance.now();
  #drawnMs = -Infinity;

  constructor(unit: string) {
    this.#unit = unit;
  }

  update(count: number): void {
    const now = performance.now();
    if (!process.stderr.isTTY || now - this.#drawnMs < minRedrawMs) return;
    this.#drawnMs = now;
    process.stderr.write(`\r${counted(count, this.#unit)}${clearRest}`);
  }

  /** Replaces the progress line with a permanent line. The next update draws the progress line again. */
  tell(line: string): void {
    process.stderr.write(`${this.#drawnMs === -Infinity ? '' : `\r${clearRest}`}${line}\n`);
    this.#drawnMs = -Infinity;
  }

  /** Replaces the progress line with a summary, which ends with `rest`. */
  finish(verb: string, count: number, rest = ''): void {
    const seconds = (performance.now() - this.#startMs) / 1000;
    this.tell(`${verb} ${counted(count, this.#unit)} in ${seconds.toFixed(1)} s${rest}.`);
  }
}

/** Formats a number, with its unit if given, such as `1 plant` or `2,000 plants`. `unit` must be in the singular. */
export function counted(count: number, unit?: string): string {
  return `${format.format(count)}${unit === undefined ? '' : ` ${unit}${count === 1 ? '' : 's'}`}`;
}
