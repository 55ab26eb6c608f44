import type { CopyCounts, CopyPlantsOptions, PlantConflict } from '../../../transfer/add-plants.ts';
import { printable } from './printable.ts';

/** The maximum number of conflicts, and of bad lines, that are reported individually. All others are only counted. */
const maxTold = 10;
const minRedrawMs = 100;
const clearLine = '\r\u001b[K';

/**
 * Reports a transfer of plants on standard error: the conflicts, the bad lines, a summary, and on a terminal a progress
 * line.
 */
export class TransferReport implements CopyPlantsOptions {
  #drawnMs = 0;
  #conflicts = 0;
  #badLines = 0;

  readonly onProgress = ({ added, present, conflicts }: CopyCounts): void => {
    if (!process.stderr.isTTY || performance.now() - this.#drawnMs < minRedrawMs) return;
    this.#drawnMs = performance.now();
    process.stderr.write(`${clearLine}${counted(added + present + conflicts, 'plant')}`);
  };

  readonly onConflict = ({ user, plant: { id } }: PlantConflict): void => {
    const name = printable(JSON.stringify(user));
    this.#tell(++this.#conflicts, 'conflicts', `User ${name} has another plant with id ${id}: it was left as it is.`);
  };

  onBadLine(number: number, problem: string, isLast: boolean): void {
    const consequence = isLast ? 'ended the import' : 'was left out';
    this.#tell(++this.#badLines, 'bad lines', `Line ${number} ${consequence}: ${problem}`);
  }

  /** Writes the summary. Returns the exit code, which is 0 if all plants were added or already existed. */
  finish(verb: string, { added, present, conflicts }: CopyCounts, { aborted, reason }: AbortSignal): number {
    const counts = [`${verb} ${counted(added, 'plant')}`, `${counted(present, 'plant')} already existed`];
    counts.push(counted(conflicts, 'conflict'));
    if (this.#badLines > 0) counts.push(counted(this.#badLines, 'bad line'));
    this.#print(`${counts.join(', ')}.${aborted ? ' Interrupted: run the command again to continue.' : ''}`);
    if (aborted) return Number(reason);
    return conflicts === 0 && this.#badLines === 0 ? 0 : 1;
  }

  #tell(count: number, what: string, line: string): void {
    if (count <= maxTold) this.#print(line);
    else if (count === maxTold + 1) this.#print(`Further ${what} are only counted.`);
  }

  /** Replaces the progress line, if any, with a permanent line. */
  #print(line: string): void {
    process.stderr.write(`${process.stderr.isTTY ? clearLine : ''}${line}\n`);
  }
}

/** Formats a number of things, such as `1 plant` or `2,000 plants`. `unit` must be in the singular. */
export function counted(count: number, unit: string): string {
  return `${count.toLocaleString('en-US')} ${unit}${count === 1 ? '' : 's'}`;
}
