import type { Pool } from 'pg';
import type { PostgresPool } from '../../src/storage/postgres/pool.ts';

/** A pool that keeps the texts of its statements. */
export interface ObservedPool extends PostgresPool {
  readonly texts: string[];
}

/** Keeps what a pool is asked, and fails where it is told to. */
export function observed(pool: Pool, fail: (text: string) => Error | undefined = () => undefined): ObservedPool {
  const texts: string[] = [];
  return {
    texts,
    query: async (text, values) => {
      texts.push(text);
      const error = fail(text);
      if (error !== undefined) throw error;
      return pool.query(text, values);
    },
  };
}

/** An error as `pg` rejects with it. */
export function failure(code: string): Error {
  return Object.assign(new Error(`failed with ${code}`), { code });
}
