import type { Pool } from 'pg';
import type { PostgresPool } from '../../src/storage/postgres/pool.ts';

/** A pool that records the texts of its statements, except the statement that reads the table size. */
export interface ObservedPool extends PostgresPool {
  readonly texts: string[];
}

/** Wraps a pool. Records each statement, and rejects every statement for which `fail` returns an error. */
export function observed(pool: Pool, fail: (text: string) => Error | undefined = () => undefined): ObservedPool {
  const texts: string[] = [];
  return {
    texts,
    query: async (statement) => {
      const { text } = statement;
      // The table size is read at unpredictable times.
      if (!text.includes('pg_relation_size')) texts.push(text);
      const error = fail(text);
      if (error !== undefined) throw error;
      return pool.query(statement);
    },
  };
}

/** Returns an error with a code, like those of `pg`. */
export function failure(code: string): Error {
  return Object.assign(new Error(`failed with ${code}`), { code });
}
