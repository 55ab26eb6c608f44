import { faultsIn } from '../../../fault.ts';
import type { Fault } from '../../../fault.ts';

const postgresStorage = 'test/storage/postgres/postgres-storage.test.ts';
const readGroup = 'test/storage/postgres/read-group.test.ts';
const table = 'test/storage/postgres/table.test.ts';
const unstorable = 'test/storage/postgres/unstorable.test.ts';

/** `src/storage/postgres`: the life of the adapter, and its table. */
export const postgresTableFaults: readonly Fault[] = [
  ...faultsIn(
    'src/storage/postgres/postgres-storage.ts',
    [postgresStorage],
    [
      {
        name: 'PostgreSQL: statements are prepared unless preparedStatements is true',
        find: 'preparedStatements ? withPreparedStatements(pool) : pool',
        replace: 'preparedStatements ? pool : withPreparedStatements(pool)',
        tests: ['test/storage/postgres/prepared.test.ts'],
      },
      {
        name: 'PostgreSQL: preparedStatements prepares writes too',
        find: 'writer: new BatchWriter(pool, statements)',
        replace: 'writer: new BatchWriter(reads, statements)',
        tests: ['test/storage/postgres/prepared.test.ts'],
      },
      {
        name: 'PostgreSQL: a missing table is not checked again',
        find: 'this.#table = undefined;',
        replace: '',
        tests: [table],
      },
      {
        name: 'PostgreSQL: operations succeed after close',
        find: "if (this.#closing !== undefined) throw new PlantStoreError('closed');",
        replace: '',
      },
      {
        name: 'PostgreSQL: close does not wait for lists',
        find: 'if (this.#running === 0) resolve();',
        replace: 'resolve();',
        tests: [readGroup],
      },
    ],
  ),
  ...faultsIn(
    'src/storage/postgres/table.ts',
    [table],
    [
      {
        name: 'PostgreSQL table: the table is created without permission',
        find: 'if (!createIfMissing) throw',
        replace: 'if (!createIfMissing && attempt > 1) throw',
      },
      {
        name: 'PostgreSQL table: servers that start at the same time fail',
        find: 'attempt === maxAttempts || ',
        replace: 'attempt > 0 || ',
      },
      {
        name: 'PostgreSQL table: a database that is not UTF8 is accepted',
        find: '  await checkEncoding(pool);\n',
        replace: '',
        tests: [unstorable],
      },
      {
        name: 'PostgreSQL table: a table with other columns is accepted',
        find: 'found !== expected',
        replace: 'found.length === 0',
      },
      {
        name: 'PostgreSQL table: a quote in a name is not escaped',
        find: `identifier.replaceAll('"', '""')`,
        replace: 'identifier',
      },
      {
        name: 'PostgreSQL table: the length of a name is counted in UTF-16 units',
        find: 'Buffer.byteLength(name) > maxIdentifierBytes',
        replace: 'name.length > maxIdentifierBytes',
      },
      {
        name: 'PostgreSQL table: users have the collation of the database',
        find: `? '' : 'COLLATE "C"'`,
        replace: `? '' : ''`,
      },
      {
        name: 'PostgreSQL table: the collation is specified although the database has it',
        find: `? '' : 'COLLATE "C"'`,
        replace: `? 'COLLATE "C"' : 'COLLATE "C"'`,
      },
      {
        name: 'PostgreSQL table: a scan uses the collation of the column',
        find: "order.isByteOrdered === 'true'",
        replace: "order.isByteOrdered !== ''",
      },
      {
        name: 'PostgreSQL table: the error of a connection pooler does not name the remedy',
        find: "sqlState(error) !== '08P01' || ",
        replace: "sqlState(error) === '08P01' || ",
        tests: ['test/storage/postgres/pg-bouncer.test.ts'],
      },
    ],
  ),
];
