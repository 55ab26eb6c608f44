/**
 * The storage adapter for PostgreSQL.
 *
 * @module plant-store/postgres
 */

export type { PostgresPool } from './storage/postgres/statements.ts';
export { PostgresStorage } from './storage/postgres/postgres-storage.ts';
export type { PostgresStorageOptions } from './storage/postgres/postgres-storage.ts';
