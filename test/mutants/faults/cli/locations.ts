import { faultsIn } from '../../fault.ts';
import type { Fault } from '../../fault.ts';

/** `src/cli`: the locations in storage settings. */
export const locationFaults: readonly Fault[] = faultsIn(
  'src/cli/sqlite-location.ts',
  ['test/cli/sqlite-location.test.ts'],
  [
    {
      name: 'SQLite location: an unknown parameter is ignored',
      find: `if (name !== 'commitThread') {`,
      replace: `if (name === '') {`,
    },
    {
      name: 'SQLite location: a repeated parameter is accepted',
      find: 'if (commitThread !== undefined) throw',
      replace: `if (commitThread === '') throw`,
    },
    {
      name: 'SQLite location: any value of commitThread is accepted',
      find: `value !== 'true' && value !== 'false'`,
      replace: `value === 'maybe'`,
    },
    {
      name: 'SQLite location: a parameter without a value is part of the file name',
      find: '(?:=.*)?))?$',
      replace: '=.*))?$',
    },
    {
      name: 'SQLite location: a question mark in a file name begins parameters',
      find: String.raw`(\w+(?:=.*)?)`,
      replace: '(.*)',
    },
    {
      name: 'SQLite location: a missing file name is accepted',
      find: ` || file === ''`,
      replace: '',
    },
  ],
);
