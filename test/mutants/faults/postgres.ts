import { faultsIn } from '../fault.ts';
import type { Fault } from '../fault.ts';

const postgres = 'test/storage/postgres/postgres-storage.test.ts';
const table = 'test/storage/postgres/table.test.ts';
const commandLine = 'test/cli/open-postgres.test.ts';

/** PostgreSQL: what several servers do at once, and what is lost on the way. */
export const postgresFaults: readonly Fault[] = [
  ...faultsIn(
    'src/storage/postgres/pool.ts',
    [postgres],
    [
      { name: 'a statement is tried once more often', find: 'maxRetries = 5', replace: 'maxRetries = 6' },
      { name: 'a deadlock is not tried again', find: `'40001', '40P01'`, replace: `'40001'` },
      {
        name: 'a write whose connection was ended is repeated',
        find: `'40001', '40P01'`,
        replace: `'40001', '40P01', '57P01'`,
      },
      {
        name: 'a write whose connection was lost is repeated',
        find: '!rolledBackStates.has(sqlState(error))',
        replace: '(error as { severity?: string }).severity !== undefined && !rolledBackStates.has(sqlState(error))',
      },
    ],
  ),
  ...faultsIn(
    'src/storage/postgres/batch.ts',
    [postgres],
    [
      {
        name: 'a batch is two statements',
        find: 'return await runStatement(pool, insertAndRemove, [...insertValues(creates), ...removeValues(removes)]);',
        replace:
          'return [...(await runStatement(pool, insert, insertValues(creates))), ...(await runStatement(pool, remove, removeValues(removes)))];',
      },
      { name: 'servers lock plants in no common order', find: 'writes.toSorted(byKey)', replace: '[...writes]' },
      { name: 'ids go as doubles', find: 'String(plant.id)', replace: 'Number(plant.id)' },
      { name: 'no tag becomes an empty one', find: 'plant.tag ?? null', replace: `plant.tag ?? ''` },
      {
        name: 'a batch of which something is new looks all new',
        find: 'changed.length === writes.length',
        replace: 'changed.length > 0',
      },
    ],
  ),
  ...faultsIn(
    'src/storage/postgres/batch.ts',
    ['test/storage/postgres/unstorable.test.ts'],
    [
      { name: 'a plant that PostgreSQL cannot hold fails its batch', find: `state.startsWith('22') || `, replace: '' },
      { name: 'a limit of PostgreSQL fails a whole batch', find: ` || state.startsWith('54')`, replace: '' },
    ],
  ),
  ...faultsIn(
    'src/storage/postgres/statements.ts',
    [postgres],
    [
      { name: 'PostgreSQL: a create overwrites', find: 'DO NOTHING', replace: 'DO UPDATE SET name = EXCLUDED.name' },
      {
        name: 'PostgreSQL: a delete takes other users’ plants',
        find: `WHERE p."user" = d."user" AND p.id = d.id`,
        replace: 'WHERE p.id = d.id',
      },
      {
        name: 'PostgreSQL: a list shows other users’ plants',
        find: `'WHERE "user" = $2'`,
        replace: `'WHERE "user" >= $2'`,
      },
      {
        name: 'PostgreSQL: another user’s plants make a JSON page go on',
        find: 'others WHERE "user" = $2',
        replace: 'others WHERE "user" >= $2',
      },
      {
        name: 'PostgreSQL: a list goes on at its last plant',
        find: `'AND id > $3::bigint'`,
        replace: `'AND id >= $3::bigint'`,
      },
      {
        name: 'PostgreSQL: a scan goes on at its last plant',
        find: '("user" COLLATE "C", id) > ',
        replace: '("user" COLLATE "C", id) >= ',
      },
      { name: 'PostgreSQL: a full page always goes on', find: 'others.id > last', replace: 'others.id >= last' },
      {
        name: 'PostgreSQL: a short list is in the order of texts',
        find: 'ORDER BY p.id LIMIT',
        replace: 'ORDER BY id LIMIT',
      },
      {
        name: 'PostgreSQL: a JSON page leaves out long names',
        find: 'CASE WHEN shorts = count AND ',
        replace: 'CASE WHEN ',
      },
      {
        name: 'PostgreSQL: a JSON page of control characters is too large',
        find: ' AND octet_length(json) < ${maxPageBytes} THEN',
        replace: ' THEN',
      },
      {
        name: 'PostgreSQL: a page of few bytes looks like the last',
        find: 'bytes_before < ${maxPageBytes}',
        replace: 'bytes_before < ${maxPageBytes / 2}',
      },
      {
        name: 'PostgreSQL: a scan is in the order of the column',
        find: `order: '"user" COLLATE "C", id'`,
        replace: `order: '"user", id'`,
        tests: [table],
      },
    ],
  ),
  ...faultsIn(
    'src/storage/postgres/postgres-storage.ts',
    [postgres],
    [
      {
        name: 'PostgreSQL: a table that was not there is never looked for again',
        find: 'this.#tablePrepared = undefined;',
        replace: '',
        tests: [table],
      },
      { name: 'PostgreSQL: works after close', find: 'this.#isClosed = true;', replace: '' },
      {
        name: 'PostgreSQL: a list is longer than its limit',
        find: 'Math.min(maxPageLength, limit - page.length)',
        replace: 'Math.min(maxPageLength, limit)',
      },
      {
        name: 'PostgreSQL: a page is not cut where it is full',
        find: 'return page.slice(0, end);',
        replace: 'return page;',
      },
    ],
  ),
  ...faultsIn(
    'src/storage/postgres/table.ts',
    [table],
    [
      {
        name: 'a table is created against the will of the application',
        find: 'if (!isCreated) throw',
        replace: 'if (!isCreated && attempt > 1) throw',
      },
      { name: 'ten servers that start at once fail', find: 'attempt === maxAttempts || ', replace: 'attempt > 0 || ' },
      {
        name: 'a database that is not in UTF8 is used',
        find: '  await checkEncoding(pool);\n',
        replace: '',
        tests: ['test/storage/postgres/unstorable.test.ts'],
      },
      { name: 'a table of other columns is taken', find: 'found !== expected', replace: 'found.length === 0' },
      { name: 'a name with a quote is SQL', find: `identifier.replaceAll('"', '""')`, replace: 'identifier' },
      {
        name: 'a name over 63 bytes is cut',
        find: 'Buffer.byteLength(name) > maxIdentifierBytes',
        replace: 'name.length > maxIdentifierBytes',
      },
      {
        name: 'users are in the order of the database’s locale',
        find: '"user" text COLLATE "C" NOT NULL',
        replace: '"user" text NOT NULL',
      },
    ],
  ),
  ...faultsIn(
    'src/cli/postgres-parameters.ts',
    [commandLine],
    [
      { name: 'the size of the pool is not heard', find: 'return Number(text);', replace: 'return defaultPoolSize;' },
      { name: 'an unknown parameter passes', find: 'throw unknownParameter(source, shown);', replace: 'continue;' },
      { name: 'a piece of a password is shown', find: ` && !query.includes('@')`, replace: '' },
    ],
  ),
  ...faultsIn(
    'src/cli/open-postgres.ts',
    [commandLine],
    [
      { name: 'the pool stays open', find: 'this.#pool.end()', replace: 'Promise.resolve()' },
      {
        name: 'an idle connection that is lost ends the process',
        find: `pool.on('error', () => undefined);`,
        replace: '',
      },
      {
        name: 'the password is shown',
        find: '${source} is not a connection',
        replace: '${source} ${connectionString} is not a connection',
      },
    ],
  ),
];
