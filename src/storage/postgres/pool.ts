/** The part of a connection pool that this package uses. A `Pool` from the `pg` package implements this interface. */
export interface PostgresPool {
  /** Runs a statement in its own transaction, on any connection of the pool. */
  query(statement: {
    /** The name of the prepared statement. If `undefined`, the statement is not prepared for reuse. */
    name?: string;
    text: string;
    values: unknown[];
  }): Promise<{
    /** One object for each row, with a member for each column. */
    rows: unknown[];
    /** The number of rows that the statement returned or changed. */
    rowCount: number | null;
  }>;
}

/** Returns the SQLSTATE of a PostgreSQL error: https://www.postgresql.org/docs/current/errcodes-appendix.html */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
