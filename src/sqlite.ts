/**
 * The storage adapter for SQLite.
 *
 * @module plant-store/sqlite
 */

export { SqliteStorage } from './storage/sqlite/sqlite-storage.ts';
export type { SqliteStorageOptions } from './storage/sqlite/sqlite-storage.ts';
