import { faultsIn } from '../../../fault.ts';
import type { Fault } from '../../../fault.ts';

const reopen = 'test/storage/sqlite/reopen.test.ts';
const sqliteStorage = 'test/storage/sqlite/sqlite-storage.test.ts';

/** `src/storage/sqlite`: the statements, the pages, and the adapter. */
export const sqlitePlantFaults: readonly Fault[] = [
  ...faultsIn(
    'src/storage/sqlite/connection.ts',
    [sqliteStorage],
    [
      {
        name: 'SQLite: a create overwrites the stored plant',
        find: 'ON CONFLICT DO NOTHING',
        replace: 'ON CONFLICT DO UPDATE SET name = excluded.name',
      },
      {
        name: 'SQLite: a delete removes plants of other users',
        find: `'DELETE FROM plants WHERE user = ? AND id = ?'`,
        replace: `"DELETE FROM plants WHERE ? <> '' AND id = ?"`,
      },
      {
        name: 'SQLite: a list includes plants of other users',
        find: `FROM plants WHERE user = ? AND id >= ? ORDER BY id LIMIT';`,
        replace: `FROM plants WHERE user >= ? AND id >= ? ORDER BY id LIMIT';`,
      },
      {
        name: 'SQLite: plants of other users make a JSON page report more',
        find: 'WHERE user = ? AND id > last',
        replace: 'WHERE user >= ? AND id > last',
      },
      {
        name: 'SQLite: a scan includes the plant at after',
        find: '(user, id) > (?, ?)',
        replace: '(user, id) >= (?, ?)',
      },
      { name: 'SQLite: ids are read as doubles', find: 'statement.setReadBigInts(true);', replace: '' },
    ],
  ),
  ...faultsIn(
    'src/storage/sqlite/page.ts',
    [sqliteStorage],
    [
      { name: 'SQLite page: a JSON page omits long names', find: ' && shortPlants === count', replace: '' },
      {
        name: 'SQLite page: a page omits plants after a long name',
        find: 'if (!isShort(row)) return undefined;',
        replace: 'if (!isShort(row)) return items;',
      },
      {
        name: 'SQLite page: the bytes of a page are not limited',
        find: 'if (bytes >= maxPageBytes) break;',
        replace: '',
      },
      {
        name: 'SQLite page: the bytes of a JSON page are not limited',
        find: ' || bytes >= maxPageBytes) return',
        replace: ') return',
      },
      {
        name: 'SQLite page: bytes are counted in UTF-16 units',
        find: 'return Buffer.byteLength(name)',
        replace: 'return name.length',
      },
    ],
  ),
  ...faultsIn(
    'src/storage/sqlite/sqlite-storage.ts',
    [sqliteStorage],
    [
      {
        name: 'SQLite: the connection is reused after a failed commit',
        find: 'this.#mustReopen = isFault(error) || connection.database.isTransaction;',
        replace: '',
        tests: [reopen],
      },
      {
        name: 'SQLite: the old connection is closed before a new one is open',
        find: 'const { database: old } = this.#connection;',
        replace: 'const old = { close: () => undefined };\n      this.#connection.database.close();',
        tests: [reopen],
      },
      { name: 'SQLite: the old connection is never closed', find: 'old.close();', replace: '', tests: [reopen] },
      {
        name: 'SQLite: the version of the data does not count reopened connections',
        find: 'this.#reopened++;',
        replace: '',
        tests: [reopen],
      },
      {
        name: 'SQLite: a batch is committed write by write',
        find: 'inTransaction(connection.database, () => writes.map((write) => apply(connection, write)))',
        replace: 'writes.map((write) => apply(connection, write))',
        tests: ['test/storage/sqlite/file.test.ts'],
      },
      {
        name: 'SQLite: an unstorable plant fails its batch',
        find: `!hasResultCode(error, 'tooBig')`,
        replace: `!hasResultCode(error, 'busy')`,
      },
      { name: 'SQLite: a list includes the plant at after', find: 'after + 1n', replace: 'after' },
      {
        name: 'SQLite: a list after the maximum id starts again',
        find: 'after === maxInt64 ? undefined',
        replace: 'after === maxInt64 ? minInt64',
      },
      { name: 'SQLite: a second close throws', find: 'this.#closing ??= this', replace: 'this.#closing = this' },
      {
        name: 'SQLite: commits of other processes do not change the version of the data',
        find: '+ Number(version);',
        replace: '+ Number(version > 0n);',
      },
    ],
  ),
  ...faultsIn(
    'src/storage/sqlite/text.ts',
    [sqliteStorage],
    [
      {
        name: 'SQLite text: control characters are stored unescaped',
        find: String.raw`/["\\\u0000-\u001f]/`,
        replace: String.raw`/["\\]/`,
      },
      {
        name: 'SQLite text: escapes are not decoded',
        find: `column.includes('\\\\')`,
        replace: `column.startsWith('\\\\')`,
      },
    ],
  ),
];
