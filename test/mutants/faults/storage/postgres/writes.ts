import { faultsIn } from '../../../fault.ts';
import type { Fault } from '../../../fault.ts';

const postgresStorage = 'test/storage/postgres/postgres-storage.test.ts';
const batch = 'test/storage/postgres/batch.test.ts';
const unstorable = 'test/storage/postgres/unstorable.test.ts';

/** `src/storage/postgres`: commits, and the connections of the pool. */
export const postgresWriteFaults: readonly Fault[] = [
  ...faultsIn(
    'src/storage/postgres/batch.ts',
    [postgresStorage],
    [
      {
        name: 'PostgreSQL: a batch with creates and deletes is two statements',
        find: 'return await runStatement(this.#pool, insertAndRemove, [...inserted, ...removed]);',
        replace:
          'return [...(await runStatement(this.#pool, insert, inserted)), ...(await ' +
          'runStatement(this.#pool, remove, removed))];',
      },
      {
        name: 'PostgreSQL: a database without data-modifying CTEs commits in two transactions',
        find: 'return runTransaction(this.#pool, [\n      [insert, inserted],\n      [remove, removed],\n    ]);',
        replace:
          'return [...(await runStatement(this.#pool, insert, inserted)), ...(await ' +
          'runStatement(this.#pool, remove, removed))];',
        tests: [batch],
      },
      {
        name: 'PostgreSQL: each mixed batch tries the CTE again after the database has refused it',
        find: 'this.#mustSplit = true;',
        replace: '',
        tests: [batch],
      },
      { name: 'PostgreSQL: a batch is not sorted by key', find: 'writes.toSorted(byKey)', replace: '[...writes]' },
      { name: 'PostgreSQL: ids are sent as doubles', find: 'String(plant.id)', replace: 'Number(plant.id)' },
      {
        name: 'PostgreSQL: an absent tag is stored as an empty string',
        find: 'plant.tag ?? null',
        replace: `plant.tag ?? ''`,
      },
      {
        name: 'PostgreSQL: a partially applied batch is reported as fully applied',
        find: 'changed.length === writes.length',
        replace: 'changed.length > 0',
      },
      {
        name: 'PostgreSQL: an unstorable plant fails its batch',
        find: `state.startsWith('22') || `,
        replace: '',
        tests: [unstorable],
      },
      {
        name: 'PostgreSQL: a plant that exceeds a limit of PostgreSQL fails its batch',
        find: ` || state.startsWith('54')`,
        replace: '',
        tests: [unstorable],
      },
    ],
  ),
  ...faultsIn(
    'src/storage/postgres/pool.ts',
    [postgresStorage],
    [
      {
        name: 'PostgreSQL pool: a statement is retried once too often',
        find: 'maxRetries = 5',
        replace: 'maxRetries = 6',
      },
      { name: 'PostgreSQL pool: a deadlock is not retried', find: `'40001', '40P01'`, replace: `'40001'` },
      {
        name: 'PostgreSQL pool: a write is retried after an administrator ended its connection',
        find: `'40001', '40P01'`,
        replace: `'40001', '40P01', '57P01'`,
      },
      {
        name: 'PostgreSQL pool: a write is retried after its connection was lost',
        find: '!rolledBackStates.has(sqlState(error))',
        replace: '(error as { severity?: string }).severity !== undefined && !rolledBackStates.has(sqlState(error))',
      },
    ],
  ),
  ...faultsIn(
    'src/storage/postgres/pool.ts',
    [batch],
    [
      {
        name: 'PostgreSQL pool: a transaction that COMMIT rolled back counts as committed',
        find: "if (command !== 'COMMIT') throw",
        replace: "if (command === '') throw",
      },
      {
        name: 'PostgreSQL pool: a connection returns to the pool inside a failed transaction',
        find: 'client.release(true);',
        replace: 'client.release();',
      },
      {
        name: 'PostgreSQL pool: the statements of a transaction run outside of it',
        find: "await client.query('BEGIN');",
        replace: '',
      },
    ],
  ),
];
