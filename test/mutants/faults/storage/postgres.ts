import { faultsIn } from '../../fault.ts';
import type { Fault } from '../../fault.ts';

const postgresStorage = 'test/storage/postgres/postgres-storage.test.ts';
const table = 'test/storage/postgres/table.test.ts';
const unstorable = 'test/storage/postgres/unstorable.test.ts';

/** `src/storage/postgres`: the adapter for PostgreSQL. */
export const postgresFaults: readonly Fault[] = [
  ...faultsIn(
    'src/storage/postgres/batch.ts',
    [postgresStorage],
    [
      {
        name: 'PostgreSQL: a batch with creates and deletes is two statements',
        find:
          'return await runStatement(pool, insertAndRemove, [...insertValues(creates), ' +
          '...removeValues(removes)]);',
        replace:
          'return [...(await runStatement(pool, insert, insertValues(creates))), ...(await ' +
          'runStatement(pool, remove, removeValues(removes)))];',
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
    'src/storage/postgres/postgres-storage.ts',
    [postgresStorage],
    [
      {
        name: 'PostgreSQL: a missing table is not checked again',
        find: 'this.#tablePrepared = undefined;',
        replace: '',
        tests: [table],
      },
      { name: 'PostgreSQL: operations succeed after close', find: 'this.#isClosed = true;', replace: '' },
      {
        name: 'PostgreSQL: a list is longer than its limit',
        find: 'Math.min(maxPageLength, limit - page.length)',
        replace: 'Math.min(maxPageLength, limit)',
      },
      { name: 'PostgreSQL: a full page is not cut', find: 'return page.slice(0, end);', replace: 'return page;' },
    ],
  ),
  ...faultsIn(
    'src/storage/postgres/statements.ts',
    [postgresStorage],
    [
      {
        name: 'PostgreSQL: a create overwrites the stored plant',
        find: 'DO NOTHING',
        replace: 'DO UPDATE SET name = EXCLUDED.name',
      },
      {
        name: 'PostgreSQL: a delete removes plants of other users',
        find: `WHERE p."user" = d."user" AND p.id = d.id`,
        replace: 'WHERE p.id = d.id',
      },
      {
        name: 'PostgreSQL: a list includes plants of other users',
        find: `'WHERE "user" = $2'`,
        replace: `'WHERE "user" >= $2'`,
      },
      {
        name: 'PostgreSQL: plants of other users make a JSON page report more',
        find: 'others WHERE "user" = $2',
        replace: 'others WHERE "user" >= $2',
      },
      {
        name: 'PostgreSQL: a list includes the plant at after',
        find: `'AND id > $3::bigint'`,
        replace: `'AND id >= $3::bigint'`,
      },
      {
        name: 'PostgreSQL: a scan includes the plant at after',
        find: '("user" COLLATE "C", id) > ',
        replace: '("user" COLLATE "C", id) >= ',
      },
      { name: 'PostgreSQL: a full page always reports more', find: 'others.id > last', replace: 'others.id >= last' },
      {
        name: 'PostgreSQL: a short list is sorted by the text of the id',
        find: 'ORDER BY p.id LIMIT',
        replace: 'ORDER BY id LIMIT',
      },
      {
        name: 'PostgreSQL: a JSON page omits long names',
        find: 'CASE WHEN shorts = count AND ',
        replace: 'CASE WHEN ',
      },
      {
        name: 'PostgreSQL: a JSON page of control characters exceeds the maximum',
        find: ' AND octet_length(json) < ${maxPageBytes} THEN',
        replace: ' THEN',
      },
      {
        name: 'PostgreSQL: a page with half the maximum bytes is reported as the last',
        find: 'bytes_before < ${maxPageBytes}',
        replace: 'bytes_before < ${maxPageBytes / 2}',
      },
      {
        name: 'PostgreSQL: a scan uses the collation of the column',
        find: `order: '"user" COLLATE "C", id'`,
        replace: `order: '"user", id'`,
        tests: [table],
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
        find: '"user" text COLLATE "C" NOT NULL',
        replace: '"user" text NOT NULL',
      },
    ],
  ),
];
