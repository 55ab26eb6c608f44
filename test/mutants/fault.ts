/**
 * A single small, deliberate fault in `src`, such as a programmer might introduce. The tests should
 * detect it; if they do not, a test is missing.
 *
 * To add one, put it into the list of its room (`faults/`) and run
 * `npm run mutants -- --only 'part of its name'`. Choose a fault that would harm a user. A change of
 * a message, or of something that no caller can observe, proves nothing.
 */
export interface Fault {
  /** The part of the code, a colon, and what it does wrong; unique. */
  readonly name: string;
  /** The file that contains it, relative to the root of the project. */
  readonly file: string;
  /** The text to replace. It must occur exactly once in the file. Quote a short text that is unlikely to change. */
  readonly find: string;
  /** The replacement. The file must still compile, because a fault that the compiler detects needs no test. */
  readonly replace: string;
  /**
   * The test files that should detect it. They run in this order until one fails. Name the fewest and
   * fastest that suffice, usually one.
   */
  readonly tests: readonly string[];
}

type FaultOfFile = Omit<Fault, 'file' | 'tests'> & Partial<Pick<Fault, 'tests'>>;

/** The faults of one file. `tests` applies to those that do not name their own. */
export function faultsIn(file: string, tests: readonly string[], faults: readonly FaultOfFile[]): Fault[] {
  return faults.map((fault) => ({ file, tests, ...fault }));
}
