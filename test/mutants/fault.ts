/**
 * A single deliberate fault in the sources, small, as a tired colleague might make it. The tests
 * are there to catch it; where they do not, one is missing.
 *
 * To add one: put it into the list of its room (`faults-*.ts`) and run
 * `npm run mutants -- --only 'part of its name'`. Choose what would hurt somebody, not what merely
 * differs: a text of a message, or a fault that no caller can ever notice, proves nothing.
 */
export interface Fault {
  /** What it does, in plain words; no two have the same. */
  readonly name: string;
  /** The file it is in, from the root of the project. */
  readonly file: string;
  /**
   * What it replaces: stands in the file exactly once, or nothing is run. Short, on a line that is
   * likely to stay, so that the list goes on to fit.
   */
  readonly find: string;
  /** What stands there instead. The file must still compile: what the compiler catches needs no test. */
  readonly replace: string;
  /**
   * The test files that are expected to catch it, tried in this order until one does; the fewest and
   * quickest that will do, most often one.
   */
  readonly tests: readonly string[];
}

/** What is said of one fault among those of its file. */
type FaultOfFile = Omit<Fault, 'file' | 'tests'> & Partial<Pick<Fault, 'tests'>>;

/** The faults of one file, and the tests that catch those that name none themselves. */
export function faultsIn(file: string, tests: readonly string[], faults: readonly FaultOfFile[]): Fault[] {
  return faults.map((fault) => ({ file, tests, ...fault }));
}
