/**
 * The storage adapter for PostgreSQL.
 *
 * @module plant-store/postgres
 */

export type { PostgresClient, PostgresPool } from './storage/postgres/pool.ts';
export { PostgresStorage } from './storage/postgres/postgres-storage.ts';
export type { PostgresStorageOptions } from './storage/postgres/postgres-storage.ts';
