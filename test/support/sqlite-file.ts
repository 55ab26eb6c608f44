import { closeSync, openSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Opens a separate connection, which waits for locks, because a server that starts or stops can hold them. */
function open(path: string): DatabaseSync {
  return new DatabaseSync(path, { timeout: 60_000 });
}

export function execute(path: string, sql: string): void {
  using database = open(path);
  database.exec(sql);
}

/** Returns the result of https://sqlite.org/pragma.html#pragma_integrity_check: `ok` if the file is intact. */
export function checkIntegrity(path: string): string {
  using database = open(path);
  const rows = database.prepare('PRAGMA integrity_check').all();
  return rows.map((row) => String(row['integrity_check'])).join('\n');
}

/** An SQL statement that keeps a thread busy for a few hundred milliseconds. */
export const slowSql =
  'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 2000000) SELECT count(*) FROM c';

/** Overwrites three pages of a database file with zeros. */
export function damageFile(path: string, firstPage: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(3 * 4096), 0, 3 * 4096, firstPage * 4096);
  closeSync(file);
}
