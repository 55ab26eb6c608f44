import type * as Sqlite from 'node:sqlite';
import { describeNeededNode } from './version.ts';

/**
 * Returns the `node:sqlite` module. The module is not imported with `import`, because older versions of Node.js would
 * then fail before running any code. The error of an `import` does not name the required version.
 */
function loadSqlite(): typeof Sqlite {
  // Node.js 20.15 and older versions do not have this function.
  const builtins: { getBuiltinModule?: (id: string) => object | undefined } = process;
  const sqlite = builtins.getBuiltinModule?.('node:sqlite');
  if (sqlite === undefined) throw new Error(`plant-store/sqlite needs ${describeNeededNode(undefined)}.`);
  return sqlite as typeof Sqlite;
}

/** See `DatabaseSync` in `node:sqlite`. */
export const DatabaseSync: typeof Sqlite.DatabaseSync = loadSqlite().DatabaseSync;
export type DatabaseSync = Sqlite.DatabaseSync;
