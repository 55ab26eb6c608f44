import { faultsIn } from '../fault.ts';
import type { Fault } from '../fault.ts';

const sqlite = 'test/storage/sqlite/sqlite-storage.test.ts';
const database = 'test/storage/sqlite/database.test.ts';
const sqliteFile = 'test/storage/sqlite/file.test.ts';
const reopen = 'test/storage/sqlite/reopen.test.ts';
const sync = 'test/storage/sqlite/sync.test.ts';
const memory = 'test/storage/memory/memory-storage.test.ts';

/** SQLite, memory, and what all storages share. */
export const storageFaults: readonly Fault[] = [
  ...faultsIn(
    'src/storage/sqlite/database.ts',
    [sqliteFile],
    [
      {
        name: 'a commit is not waited for on the disk',
        find: 'PRAGMA synchronous = FULL',
        replace: 'PRAGMA synchronous = NORMAL',
        tests: [database],
      },
      { name: 'no write-ahead log', find: 'PRAGMA journal_mode = WAL', replace: 'PRAGMA journal_mode = DELETE' },
      {
        name: 'a failed batch is not rolled back',
        find: `if (database.isTransaction) database.exec('ROLLBACK');`,
        replace: '',
      },
      {
        name: 'the write lock is taken late',
        find: 'BEGIN IMMEDIATE',
        replace: 'BEGIN',
        tests: ['test/storage/sqlite/locked.test.ts'],
      },
      {
        name: 'another process’s lock is not waited for',
        find: 'new DatabaseSync(file, { timeout: busyTimeoutMs })',
        replace: 'new DatabaseSync(file)',
        tests: [database],
      },
      { name: 'another application’s log is taken in', find: 'readOnly: true, ', replace: '' },
      { name: 'another application’s file is taken', find: '!== applicationId', replace: '> applicationId' },
      {
        name: 'a newer version’s file is taken',
        find: 'version > migrations.length)',
        replace: 'version > migrations.length + 1)',
      },
      {
        name: 'the log of a crash is trusted',
        find: 'isLogTrusted: !isLogLeft || tryToTakeInLog(database, busyTimeoutMs)',
        replace: 'isLogTrusted: true',
        tests: [reopen],
      },
      {
        name: 'another file is opened again',
        find: 'if (identifyFile(file) !== identity) throw',
        replace: `if (identity === '') throw`,
        tests: [reopen],
      },
      {
        name: 'a file that is empty is taken for one to read',
        find: `if (readVersion(database, file) === 0) throw`,
        replace: `if (readVersion(database, file) < 0) throw`,
        tests: ['test/cli/commands/backup.test.ts'],
      },
    ],
  ),
  ...faultsIn(
    'src/storage/sqlite/file.ts',
    [sqliteFile],
    [
      { name: 'the file can be read by others', find: `'wx', 0o600`, replace: `'wx', 0o644` },
      { name: 'the folder is open to others', find: 'mode: 0o700', replace: 'mode: 0o755' },
      {
        name: 'a file that is there is opened, and its locks lost',
        find: `openSync(path, 'wx'`,
        replace: `openSync(path, 'a'`,
      },
      { name: 'a file whose log is behind is refused', find: '!hasLog(path) && ', replace: '', tests: [database] },
      {
        name: 'the names of new folders are not on the disk',
        find: 'syncFolder(dirname(folder));',
        replace: 'continue;',
        tests: [sync],
      },
      { name: 'a file that was cut short is taken', find: 'size < expectedBytes', replace: 'size === 0' },
    ],
  ),
  ...faultsIn(
    'src/storage/sqlite/connection.ts',
    [sqlite],
    [
      {
        name: 'a create overwrites',
        find: 'ON CONFLICT DO NOTHING',
        replace: 'ON CONFLICT DO UPDATE SET name = excluded.name',
      },
      {
        name: 'a delete takes another user’s plant',
        find: `'DELETE FROM plants WHERE user = ? AND id = ?'`,
        replace: `"DELETE FROM plants WHERE ? <> '' AND id = ?"`,
      },
      {
        name: 'a list shows other users’ plants',
        find: `FROM plants WHERE user = ? AND id >= ? ORDER BY id LIMIT';`,
        replace: `FROM plants WHERE user >= ? AND id >= ? ORDER BY id LIMIT';`,
      },
      {
        name: 'another user’s plants make a JSON page go on',
        find: 'WHERE user = ? AND id > last',
        replace: 'WHERE user >= ? AND id > last',
      },
      { name: 'a scan goes on at its last plant', find: '(user, id) > (?, ?)', replace: '(user, id) >= (?, ?)' },
      { name: 'ids are read as doubles', find: 'statement.setReadBigInts(true);', replace: '' },
    ],
  ),
  ...faultsIn(
    'src/storage/sqlite/checkpoint.ts',
    [reopen],
    [
      { name: 'the log that failed goes on', find: 'wal_checkpoint(TRUNCATE)', replace: 'wal_checkpoint(PASSIVE)' },
      { name: 'a log that is in use counts as taken in', find: `?.['busy']) === 0`, replace: `?.['busy']) >= 0` },
      { name: 'a log that cannot be taken in is trusted', find: 'return false;', replace: 'return true;' },
      {
        name: 'locks are no longer waited for once a log was taken in',
        find: 'database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);',
        replace: '',
        tests: [database],
      },
    ],
  ),
  ...faultsIn(
    'src/storage/sqlite/result-code.ts',
    ['test/storage/sqlite/result-code.test.ts'],
    [
      {
        name: 'extended result codes are not known',
        find: '(Number(error.errcode) & 0xff)',
        replace: 'Number(error.errcode)',
      },
      {
        name: 'an error of the disk is none of the file',
        find: `'readOnly', 'ioError', `,
        replace: `'readOnly', `,
        tests: [reopen],
      },
    ],
  ),
  ...faultsIn(
    'src/storage/sqlite/sqlite-storage.ts',
    [sqlite],
    [
      {
        name: 'a connection whose commit failed takes another one',
        find: 'this.#isSuspect = isFault(error) || connection.database.isTransaction;',
        replace: '',
        tests: [reopen],
      },
      {
        name: 'a connection is closed before there is another',
        find: 'const { database: old } = this.#connection;',
        replace: 'const old = { close: () => undefined };\n      this.#connection.database.close();',
        tests: [reopen],
      },
      { name: 'a connection that failed stays open', find: 'old.close();', replace: '', tests: [reopen] },
      {
        name: 'a new connection counts the commits of others anew',
        find: 'this.#reopened++;',
        replace: '',
        tests: [reopen],
      },
      {
        name: 'a batch is committed write by write',
        find: 'inTransaction(connection.database, () => writes.map((write) => apply(connection, write)))',
        replace: 'writes.map((write) => apply(connection, write))',
        tests: [sqliteFile],
      },
      {
        name: 'a plant that SQLite cannot hold fails its batch',
        find: `!hasResultCode(error, 'tooBig')`,
        replace: `!hasResultCode(error, 'busy')`,
      },
      { name: 'a list goes on at its last plant', find: 'after + 1n', replace: 'after' },
      {
        name: 'a list behind the largest id begins anew',
        find: 'after === maxInt64 ? undefined',
        replace: 'after === maxInt64 ? minInt64',
      },
      { name: 'a second close throws', find: 'if (this.#isClosed) return;', replace: '' },
      {
        name: 'a change by another process is not told',
        find: '+ Number(version);',
        replace: '+ Number(version > 0n);',
      },
    ],
  ),
  ...faultsIn(
    'src/storage/sqlite/version.ts',
    ['test/storage/sqlite/version.test.ts'],
    [
      {
        name: 'an SQLite that can corrupt a file is accepted',
        find: 'number >= 3_051_003',
        replace: 'number >= 3_051_002',
      },
      {
        name: 'a maintenance release of SQLite is refused',
        find: 'number >= 3_050_007',
        replace: 'number >= 3_050_008',
      },
      {
        name: 'a Node.js without SQLite is accepted',
        find: 'sqliteVersion !== undefined && !hasWalResetBug',
        replace: 'sqliteVersion === undefined || !hasWalResetBug',
        tests: ['test/cli/run.test.ts'],
      },
    ],
  ),
  ...faultsIn(
    'src/storage/sqlite/page.ts',
    [sqlite],
    [
      { name: 'a JSON page leaves out long names', find: ' && shortPlants === count', replace: '' },
      {
        name: 'a page has no names where they are long',
        find: 'if (!isShort(row)) return undefined;',
        replace: 'if (!isShort(row)) return items;',
      },
      { name: 'a page is not bounded in its bytes', find: 'if (bytes >= maxPageBytes) break;', replace: '' },
      {
        name: 'a JSON page is not bounded in its bytes',
        find: ' || bytes >= maxPageBytes) return',
        replace: ') return',
      },
      {
        name: 'a page counts code units for bytes',
        find: 'return Buffer.byteLength(name)',
        replace: 'return name.length',
      },
    ],
  ),
  ...faultsIn(
    'src/storage/sqlite/text.ts',
    [sqlite],
    [
      {
        name: 'control characters are kept as they are',
        find: String.raw`/["\\\u0000-\u001f]/`,
        replace: String.raw`/["\\]/`,
      },
      { name: 'an escape is read as it stands', find: `column.includes('\\\\')`, replace: `column.startsWith('\\\\')` },
    ],
  ),
  ...faultsIn(
    'src/storage/sqlite/backup.ts',
    ['test/storage/sqlite/backup.test.ts'],
    [
      {
        name: 'a backup overwrites',
        find: 'throwIfNoEntry: false }) !== undefined',
        replace: 'throwIfNoEntry: false })?.isFile() === true',
        tests: ['test/cli/commands/backup.test.ts'],
      },
      {
        name: 'a backup can be read by others',
        find: '0o600',
        replace: '0o644',
        tests: ['test/cli/commands/backup.test.ts'],
      },
      { name: 'a backup is not of one moment', find: `database.exec('BEGIN');`, replace: '' },
      {
        name: 'the name of a backup is not on the disk',
        find: 'syncFolder(dirname(target));',
        replace: '',
        tests: [sync],
      },
      { name: 'a backup that failed leaves a part', find: `['', '-journal'`, replace: `['-journal'` },
    ],
  ),
  ...faultsIn(
    'src/storage/memory/memory-storage.ts',
    [memory],
    [
      { name: 'memory keeps the caller’s object', find: 'plant: { ...write.plant } } : ', replace: '} : ' },
      {
        name: 'memory reads a batch as it applies it',
        find: `writes.map(copyOf).map((write) => (write.kind === 'create' ? this.#create(write) : this.#delete(write)))`,
        replace: `writes.map((each) => {
      const write = copyOf(each);
      return write.kind === 'create' ? this.#create(write) : this.#delete(write);
    })`,
      },
      { name: 'memory gives its own object away', find: '.map((plant) => ({ ...plant }))', replace: '' },
      {
        name: 'memory leaves a user out of a scan',
        find: 'compareUsers(user, after.user) < 0',
        replace: 'compareUsers(user, after.user) <= 0',
      },
      {
        name: 'memory scans no user that came later',
        find: `this.#plantsByUser.set(user, plants);\n      this.#sortedUsers = undefined;`,
        replace: 'this.#plantsByUser.set(user, plants);',
      },
      { name: 'memory works after close', find: 'this.#isClosed = true;', replace: '' },
    ],
  ),
  ...faultsIn(
    'src/storage/memory/sorted-plants.ts',
    ['test/storage/memory/sorted-plants.test.ts'],
    [
      {
        name: 'a slice begins at its bound',
        find: 'firstNotBelow(chunk, after + 1n)',
        replace: 'firstNotBelow(chunk, after)',
      },
      { name: 'a plant at the border of a chunk is missed', find: 'first.id <= id', replace: 'first.id < id' },
      {
        name: 'an empty chunk stays',
        find: 'if (chunk.length === 0) this.#chunks.splice(chunkIndex, 1);',
        replace: '',
      },
      { name: 'a slice is longer than its limit', find: 'from + limit - found.length', replace: 'from + limit' },
    ],
  ),
  ...faultsIn(
    'src/storage/json-page.ts',
    ['test/storage/json-page.test.ts'],
    [
      { name: 'a page that the limit cut looks like the last', find: 'limit: limit + 1', replace: 'limit' },
      { name: 'a full page looks like the last', find: 'isCut || (fullPageEnd', replace: 'isCut && (fullPageEnd' },
      { name: 'a page has one plant over its limit', find: 'if (isCut) plants.pop();', replace: '' },
    ],
  ),
  ...faultsIn(
    'src/testing/watched-adapter.ts',
    ['test/testing/test-storage-adapter.test.ts'],
    [
      {
        name: 'the suite accepts a page that repeats the plant at after',
        find: 'let last = after;\n  for (const [index',
        replace: 'let last: PlantId | undefined;\n  for (const [index',
      },
      {
        name: 'the suite accepts a page over its limit',
        find: 'page.length <= limit,',
        replace: 'page.length <= limit + 1_000_000,',
      },
      {
        name: 'the suite hides that a method throws',
        find: 'It must return a promise that rejects.',
        replace: 'It may do that.',
      },
    ],
  ),
  ...faultsIn(
    'src/testing/commit.ts',
    ['test/testing/test-storage-adapter.test.ts'],
    [
      {
        name: 'the suite does not look for the writes of a batch that failed',
        find: 'await expectNothingWritten([storage]);',
        replace: '',
      },
    ],
  ),
  ...faultsIn(
    'src/storage/key-order.ts',
    [memory],
    [{ name: 'users are ordered by UTF-16', find: 'codeUnit + 0x10000 : codeUnit', replace: 'codeUnit : codeUnit' }],
  ),
  ...faultsIn(
    'src/storage/page-bounds.ts',
    ['test/store/plant-store.test.ts'],
    [
      { name: 'a page takes 1001 plants', find: 'maxPageLength = 1000', replace: 'maxPageLength = 1001' },
      {
        name: 'a page of control characters is taken for small',
        find: 'maxCodeUnitBytes = 6',
        replace: 'maxCodeUnitBytes = 3',
        tests: [memory],
      },
      { name: 'a plant is measured twice', find: 'measured = end;', replace: '', tests: [memory] },
    ],
  ),
];
