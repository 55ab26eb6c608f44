import type { CopyCounts, CopyPlantsOptions, PlantConflict } from '../../transfer/copy-plants.ts';
import { exitCodeOf } from '../interruption.ts';
import { formatCount, printable } from './text.ts';

const maxShownLines = 10;

export class TransferReport implements CopyPlantsOptions {
  #badLines = 0;

  readonly onConflict = ({ user, plant: { id } }: PlantConflict): void => {
    const name = printable(JSON.stringify(user));
    process.stderr.write(`User ${name} has a different plant with id ${id}, which was not changed.\n`);
  };

  onBadLine(number: number, problem: string): void {
    this.#badLines++;
    if (this.#badLines <= maxShownLines) process.stderr.write(`Line ${number} was left out: ${problem}\n`);
    if (this.#badLines === maxShownLines) process.stderr.write('Further bad lines are only counted.\n');
  }

  /** Returns the exit code. */
  finish(verb: string, { added, existing, conflicts }: CopyCounts, signal: AbortSignal): number {
    const counts = [`${verb} ${formatCount(added, 'plant')}`, `${formatCount(existing, 'plant')} already existed`];
    counts.push(formatCount(conflicts, 'conflict'));
    if (this.#badLines > 0) counts.push(formatCount(this.#badLines, 'bad line'));
    const advice = signal.aborted ? ' Interrupted: run the command again to continue.' : '';
    process.stderr.write(`${counts.join(', ')}.${advice}\n`);
    if (signal.aborted) return exitCodeOf(signal);
    return conflicts === 0 && this.#badLines === 0 ? 0 : 1;
  }
}
