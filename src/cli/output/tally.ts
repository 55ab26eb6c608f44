import type { PlantConflict, PlantTally } from '../../transfer/add-plants.ts';
import { counted } from './progress.ts';
import { printable } from './printable.ts';

/**
 * The maximum number of conflicts that are reported individually. The same maximum applies to bad lines. All further
 * conflicts and bad lines are only counted.
 */
const maxTold = 10;

/** Counts the results of adding plants, and reports conflicts and bad lines. */
export class Tally implements PlantTally {
  added = 0;
  /** The number of plants that already existed, with the same name and tag. */
  present = 0;
  #conflicts = 0;
  #badLines = 0;
  readonly #tell: (line: string) => void;

  /** `tell` is called with a line of text for each conflict and bad line that is reported. */
  constructor(tell: (line: string) => void) {
    this.#tell = tell;
  }

  /** The number of plants counted so far. */
  get plants(): number {
    return this.added + this.present + this.#conflicts;
  }

  /** Whether all plants were added or already existed. */
  get isComplete(): boolean {
    return this.#conflicts === 0 && this.#badLines === 0;
  }

  /** Counts a plant that was not added, because the user already has a different plant with the same id. */
  conflict({ user, plant: { id } }: PlantConflict): void {
    this.#conflicts++;
    this.#tellOne(
      this.#conflicts,
      'conflicts',
      `User ${quoted(user)} has another plant with id ${id}: it was left as it is.`,
    );
  }

  /** Counts a line that is not a valid plant. */
  badLine(number: number, why: string): void {
    this.#badLines++;
    this.#tellOne(this.#badLines, 'bad lines', `Line ${number} was left out: ${why}`);
  }

  /** Returns the part of the summary that follows the number of added plants. */
  toString(): string {
    const lines = this.#badLines === 0 ? '' : `, ${counted(this.#badLines, 'bad line')}`;
    const verb = this.present === 1 ? 'was' : 'were';
    return `; ${counted(this.present)} ${verb} there already, ${counted(this.#conflicts, 'conflict')}${lines}`;
  }

  #tellOne(count: number, what: string, line: string): void {
    if (count <= maxTold) this.#tell(line);
    else if (count === maxTold + 1) this.#tell(`Further ${what} are only counted.`);
  }
}

function quoted(text: string): string {
  return printable(JSON.stringify(text));
}
