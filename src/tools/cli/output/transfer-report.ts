import type { CopyCounts, CopyPlantsOptions, PlantConflict } from '../../../transfer/add-plants.ts';
import { printable } from './printable.ts';
import { counted, Progress } from './progress.ts';

/** The maximum number of conflicts, and of bad lines, that are reported individually. All others are only counted. */
const maxTold = 10;

/** Reports a transfer of plants on standard error: the progress, the conflicts, the bad lines, and a summary. */
export class TransferReport implements CopyPlantsOptions {
  readonly #progress = new Progress('plant');
  #conflicts = 0;
  #badLines = 0;

  readonly onProgress = ({ added, present, conflicts }: CopyCounts): void => {
    this.#progress.update(added + present + conflicts);
  };

  readonly onConflict = ({ user, plant: { id } }: PlantConflict): void => {
    const name = printable(JSON.stringify(user));
    this.#tell(++this.#conflicts, 'conflicts', `User ${name} has another plant with id ${id}: it was left as it is.`);
  };

  /** Reports a line of input that is not a valid plant. */
  onBadLine(number: number, problem: string, isLast: boolean): void {
    const consequence = isLast ? 'ended the import' : 'was left out';
    this.#tell(++this.#badLines, 'bad lines', `Line ${number} ${consequence}: ${problem}`);
  }

  /** Writes the summary. Returns the exit code, which is 0 if all plants were added or already existed. */
  finish(verb: string, { added, present, conflicts }: CopyCounts, { aborted, reason }: AbortSignal): number {
    const rest = aborted ? '. Interrupted: run the command again to continue' : '';
    const presents = `${counted(present)} ${present === 1 ? 'was' : 'were'} there already`;
    const lines = this.#badLines === 0 ? '' : `, ${counted(this.#badLines, 'bad line')}`;
    this.#progress.finish(verb, added, `; ${presents}, ${counted(conflicts, 'conflict')}${lines}${rest}`);
    if (aborted) return Number(reason);
    return conflicts === 0 && this.#badLines === 0 ? 0 : 1;
  }

  #tell(count: number, what: string, line: string): void {
    if (count <= maxTold) this.#progress.tell(line);
    else if (count === maxTold + 1) this.#progress.tell(`Further ${what} are only counted.`);
  }
}
