import { readFileSync } from 'node:fs';

/** The maximum number of connections if the process may open enough files. */
const mostConnections = 10_000;

/**
 * How many file descriptors are reserved for the rest of the process. `plant-store serve` with SQLite uses 23 when idle
 * and up to 31 under load: for libuv's event loops, the standard streams, the database with its -wal and -shm files, a
 * second set of these database files while the database is reopened after a fault, and the tokens file. A PostgreSQL
 * pool uses 10 by default. The admin port uses up to 10: 8 connections, the socket that it listens on, and
 * /proc/self/fd.
 */
const reservedFiles = 64;

/**
 * The minimum number of connections, even if the process may open fewer files than {@link reservedFiles}. A process
 * that may open 40 files can have this many connections and open the 31 files above.
 */
const fewestConnections = 8;

/**
 * Returns how many connections to accept if the process may have `maxOpenFiles` files open. Connections must never use
 * up all file descriptors, because the database and the tokens file could then not be opened. If accept() fails with
 * EMFILE, libuv closes the connection and reports nothing.
 */
export function connectionLimit(maxOpenFiles: number): number {
  return Math.min(mostConnections, Math.max(fewestConnections, maxOpenFiles - reservedFiles));
}

/** Returns how many files this process may have open, or `Infinity` if the limit is unknown or there is none. */
export function openFileLimit(): number {
  return limitFromProc() ?? limitFromReport() ?? Infinity;
}

/** Reads the limit from /proc on Linux. This takes 0.3 ms; a diagnostic report takes 5 to 12 ms. */
function limitFromProc(): number | undefined {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/** Reads the limit from a diagnostic report. Reports contain it on every system except Windows. */
export function limitFromReport(): number | undefined {
  const report: typeof process.report & { excludeNetwork?: boolean | undefined } = process.report;
  const { excludeNetwork } = report;
  // By default, the report looks up the host name of every connection.
  report.excludeNetwork = true;
  try {
    const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft: number | 'unlimited' } } };
    const soft = userLimits?.open_files?.soft;
    return typeof soft === 'number' ? soft : undefined;
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}
