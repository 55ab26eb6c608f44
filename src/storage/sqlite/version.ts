/** The Node.js releases whose SQLite does not have the WAL reset bug: the same as `engines` in package.json. */
const supportedNode = 'Node.js 22.22.3 or a later 22, 24.15.0 or a later 24, or 26 or newer';

/**
 * Returns `undefined` if this version of SQLite does not have the WAL reset bug
 * (https://www.sqlite.org/wal.html#the_wal_reset_bug). A version that is not numeric counts as affected. This file must
 * load even if Node.js does not have `node:sqlite`.
 */
export function describeNeededNode(sqliteVersion: string | undefined): string | undefined {
  const [major = 0, minor = 0, patch = 0] = (sqliteVersion ?? '').split('.').map(Number);
  const number = (major * 1000 + minor) * 1000 + patch;
  const isFixedIn344 = number >= 3_044_006 && number < 3_045_000;
  const isFixedIn350 = number >= 3_050_007 && number < 3_051_000;
  if (isFixedIn344 || isFixedIn350 || number >= 3_051_003) return undefined;
  const flaw = ` with SQLite ${sqliteVersion}, which can corrupt a file that several processes use`;
  const found = `Node.js ${process.versions.node}${sqliteVersion === undefined ? '' : flaw}`;
  return `${supportedNode}, and this is ${found}: install a newer Node.js`;
}
