import type { Change, Faults } from './changes.ts';
import { faultsOfCommits } from './faults-of-commits.ts';
import { faultsOfLifecycles, faultsOfVersions, faultsThatHang } from './faults-of-lifecycles.ts';
import { faultsOfLists, faultsOfScans } from './faults-of-reads.ts';

interface Fault {
  readonly name: string;
  /** The start of the title of the test that must fail. */
  readonly test: string;
  readonly change: Change;
}

function rowsOf(faults: Faults): Fault[] {
  return Object.entries(faults).flatMap(([test, changes]) =>
    Object.entries(changes).map(([name, change]) => ({ name, test, change })),
  );
}

export const faults = [faultsOfCommits, faultsOfLists, faultsOfScans, faultsOfVersions, faultsOfLifecycles].flatMap(
  rowsOf,
);
/** These tests need a short deadline. */
export const hangingFaults = rowsOf(faultsThatHang);
