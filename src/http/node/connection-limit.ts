import { readFileSync } from 'node:fs';

/** The maximum number of connections for a process that can open enough files. */
const mostConnections = 10_000;

/**
 * The number of file descriptors that are reserved for everything except connections.
 *
 * With SQLite, `plant-store serve` uses 23 file descriptors when it is idle and up to 31 under load. They are used for
 * libuv's event loops, the standard streams, the tokens file, and the database with its -wal and -shm files. While the
 * database is reopened after a fault, the three database files are open twice. A PostgreSQL pool uses 10 by default.
 * The admin server uses up to 10: one for each of 8 connections, one for the listening socket, and one to read
 * /proc/self/fd.
 */
const reservedFiles = 64;

/**
 * The minimum number of connections, even if the process can open fewer files than {@link reservedFiles}. A process
 * that can open 40 files can accept this number of connections and still open the 31 files that `plant-store serve`
 * uses with SQLite.
 */
const fewestConnections = 8;

/**
 * Returns the maximum number of connections for a process that can have `maxOpenFiles` files open. Connections must
 * never use all file descriptors, because the process could then no longer open the database or the tokens file. If
 * accept() fails with EMFILE, libuv closes the connection without reporting an error.
 */
export function connectionLimit(maxOpenFiles: number): number {
  return Math.min(mostConnections, Math.max(fewestConnections, maxOpenFiles - reservedFiles));
}

/**
 * Returns the maximum number of files that this process can have open, or `Infinity` if this number is unknown. The
 * number is read from /proc/self/limits, which exists only on Linux. On other systems, Node.js raises the limit when it
 * starts, usually far above the maximum number of connections.
 */
export function openFileLimit(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
