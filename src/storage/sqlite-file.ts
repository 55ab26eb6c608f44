import { closeSync, existsSync, mkdirSync, openSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { PlantStoreError } from '../errors.ts';

/** "PLNT", in the header's application id: what tells a plant store from other SQLite files. */
export const applicationId = 0x504c4e54;

/** The database header: https://www.sqlite.org/fileformat2.html#the_database_header */
const headerLength = 100;
const magic = 'SQLite format 3\0';

/**
 * Makes the folder and an empty file where there is none, both for their owner only (SQLite gives
 * its side files the same permissions), and looks at a file that is there without opening it as a
 * database, since even that can write to it.
 *
 * @throws {PlantStoreError} `storage_unsupported` where the file is not a plant store or is cut short.
 */
export function prepareSqliteFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const header = Buffer.alloc(headerLength);
  const file = openSync(path, 'a+', 0o600);
  let bytesRead: number;
  try {
    bytesRead = readSync(file, header, 0, headerLength, 0);
  } finally {
    closeSync(file);
  }

  if (bytesRead === 0) return;
  if (header.toString('latin1', 0, magic.length) !== magic) {
    // A crash while the file was being made can leave this behind. SQLite rolls it back by the journal.
    if (existsSync(`${path}-journal`)) return;
    throw unsupported(path, 'is not an SQLite database');
  }
  if (header.readUInt32BE(68) !== applicationId) throw unsupported(path, 'is an SQLite database of another application');
  if (isCutShort(path, header)) throw unsupported(path, 'is damaged: it is shorter than its header says');
}

/** A PlantStoreError for a file that this package will not touch. */
export function unsupported(path: string, what: string, cause?: unknown): PlantStoreError {
  return new PlantStoreError('storage_unsupported', `${path} ${what}. It was left as it is.`, { cause });
}

/** While there is a write-ahead log, the database file may well be behind its header. */
function isCutShort(path: string, header: Buffer): boolean {
  const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  const pageCount = header.readUInt32BE(28);
  return !hasLog && statSync(path).size < pageSize * pageCount;
}
