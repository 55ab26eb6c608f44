import { readFileSync } from 'node:fs';

/** Used when the process may have enough files open. */
const mostConnections = 10_000;

/**
 * How many files connections leave to the rest of the process. `plant-store serve` with SQLite has 23
 * open when idle and up to 31 at work: the event loops of libuv, the standard streams, the database
 * with its -wal and -shm, a second set of these while the file is reopened after a fault, and the
 * tokens file. A PostgreSQL pool has 10 by default.
 */
const reservedFiles = 64;

/** Used when the limit of open files is below the reserve; together with the 31 files it fits into 40. */
const fewestConnections = 8;

/**
 * Returns how many connections a process may have when it may have `maxOpenFiles` files open.
 * When accept() fails with EMFILE, libuv closes the connection and reports nothing, and the database
 * and the tokens file cannot be opened either: so connections must never use up all files.
 */
export function connectionLimit(maxOpenFiles: number): number {
  return Math.min(mostConnections, Math.max(fewestConnections, maxOpenFiles - reservedFiles));
}

/** Returns how many files this process may have open; `Infinity` when that is unknown or unlimited. */
export function openFileLimit(): number {
  return limitFromProc() ?? limitFromReport() ?? Infinity;
}

/** Linux only, and takes 0.3 ms; a report takes 5 to 12 ms. */
function limitFromProc(): number | undefined {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/** A diagnostic report contains the limits on every system that has them, thus not on Windows. */
export function limitFromReport(): number | undefined {
  const report: typeof process.report & { excludeNetwork?: boolean | undefined } = process.report;
  const { excludeNetwork } = report;
  // Otherwise the report looks up the host name of every connection.
  report.excludeNetwork = true;
  try {
    const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft: number | 'unlimited' } } };
    const soft = userLimits?.open_files?.soft;
    return typeof soft === 'number' ? soft : undefined;
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}
