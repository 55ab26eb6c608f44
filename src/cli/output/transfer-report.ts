import type { CopyCounts, CopyPlantsOptions, PlantConflict } from '../../transfer/add-plants.ts';
import { exitCodeOf } from '../interruption.ts';
import { printable } from './printable.ts';

const maxShownLines = 10;

export class TransferReport implements CopyPlantsOptions {
  #badLines = 0;

  readonly onConflict = ({ user, plant: { id } }: PlantConflict): void => {
    const name = printable(JSON.stringify(user));
    process.stderr.write(`User ${name} has another plant with id ${id}: it was left as it is.\n`);
  };

  onBadLine(number: number, problem: string): void {
    this.#badLines++;
    if (this.#badLines <= maxShownLines) process.stderr.write(`Line ${number} was left out: ${problem}\n`);
    if (this.#badLines === maxShownLines) process.stderr.write('Further bad lines are only counted.\n');
  }

  /** Returns the exit code. */
  finish(verb: string, { added, existing, conflicts }: CopyCounts, signal: AbortSignal): number {
    const counts = [`${verb} ${counted(added, 'plant')}`, `${counted(existing, 'plant')} already existed`];
    counts.push(counted(conflicts, 'conflict'));
    if (this.#badLines > 0) counts.push(counted(this.#badLines, 'bad line'));
    const advice = signal.aborted ? ' Interrupted: run the command again to continue.' : '';
    process.stderr.write(`${counts.join(', ')}.${advice}\n`);
    if (signal.aborted) return exitCodeOf(signal);
    return conflicts === 0 && this.#badLines === 0 ? 0 : 1;
  }
}

/** Formats a number and its unit, such as `1 plant` or `2,000 plants`. `unit` must be in the singular. */
export function counted(count: number, unit: string): string {
  return `${count.toLocaleString('en-US')} ${unit}${count === 1 ? '' : 's'}`;
}
