import type { CopyCounts, CopyPlantsOptions, PlantConflict } from '../../transfer/copy-plants.ts';
import { exitCodeOf } from '../interruption.ts';
import { Progress, tell } from './print.ts';
import { formatCount, printable } from './text.ts';

const maxShownLines = 10;

export class TransferReport implements CopyPlantsOptions {
  readonly #progress = new Progress('plant');
  #badLines = 0;

  readonly onProgress = ({ added, existing, conflicts }: CopyCounts): void => {
    this.#progress.show(added + existing + conflicts);
  };

  readonly onConflict = ({ user, plant: { id } }: PlantConflict): void => {
    const name = printable(JSON.stringify(user));
    tell(`User ${name} has a different plant with id ${id}, which was not changed.`);
  };

  onBadLine(number: number, problem: string): void {
    this.#badLines++;
    if (this.#badLines <= maxShownLines) tell(`Line ${number} was left out: ${problem}`);
    if (this.#badLines === maxShownLines) tell('Further bad lines are only counted.');
  }

  /** Returns the exit code. */
  finish(verb: string, { added, existing, conflicts }: CopyCounts, signal: AbortSignal): number {
    const counts = [`${verb} ${formatCount(added, 'plant')}`, `${formatCount(existing, 'plant')} already existed`];
    counts.push(formatCount(conflicts, 'conflict'));
    if (this.#badLines > 0) counts.push(formatCount(this.#badLines, 'bad line'));
    const advice = signal.aborted ? ' Interrupted: run the command again to continue.' : '';
    tell(`${counts.join(', ')}.${advice}`);
    if (signal.aborted) return exitCodeOf(signal);
    return conflicts === 0 && this.#badLines === 0 ? 0 : 1;
  }
}
