import { faultsIn } from '../../../fault.ts';
import type { Fault } from '../../../fault.ts';

const backup = 'test/cli/commands/backup.test.ts';
const database = 'test/storage/sqlite/database.test.ts';
const file = 'test/storage/sqlite/file.test.ts';
const reopen = 'test/storage/sqlite/reopen.test.ts';
const sqliteBackup = 'test/storage/sqlite/backup.test.ts';
const sync = 'test/storage/sqlite/sync.test.ts';

/** `src/storage/sqlite`: the files, the write-ahead log, backups, and the version of SQLite. */
export const sqliteFileFaults: readonly Fault[] = [
  ...faultsIn(
    'src/storage/sqlite/backup.ts',
    [backup],
    [
      {
        name: 'SQLite backup: an existing target is overwritten',
        find: 'throwIfNoEntry: false }) !== undefined',
        replace: 'throwIfNoEntry: false })?.isFile() === true',
      },
      { name: 'SQLite backup: other users can read the copy', find: '0o600', replace: '0o644' },
      {
        name: 'SQLite backup: the pages are not read in one transaction',
        find: `database.exec('BEGIN');`,
        replace: '',
        tests: [sqliteBackup],
      },
      {
        name: 'SQLite backup: the folder of the copy is not synced',
        find: 'syncFolder(dirname(target));',
        replace: '',
        tests: [sync],
      },
      {
        name: 'SQLite backup: a failed backup leaves a partial file',
        find: `['', '-journal'`,
        replace: `['-journal'`,
        tests: [sqliteBackup],
      },
    ],
  ),
  ...faultsIn(
    'src/storage/sqlite/checkpoint.ts',
    [reopen],
    [
      {
        name: 'SQLite checkpoint: the WAL file is not truncated after a fault',
        find: 'wal_checkpoint(TRUNCATE)',
        replace: 'wal_checkpoint(PASSIVE)',
      },
      {
        name: 'SQLite checkpoint: a busy checkpoint is reported as complete',
        find: `?.['busy']) === 0`,
        replace: `?.['busy']) >= 0`,
      },
      {
        name: 'SQLite checkpoint: a failed checkpoint is reported as complete',
        find: 'return false;',
        replace: 'return true;',
      },
      {
        name: 'SQLite checkpoint: the busy timeout is not restored',
        find: 'database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);',
        replace: '',
        tests: [database],
      },
    ],
  ),
  ...faultsIn(
    'src/storage/sqlite/database.ts',
    [file],
    [
      {
        name: 'SQLite: commits are not synced to disk',
        find: 'PRAGMA synchronous = FULL',
        replace: 'PRAGMA synchronous = NORMAL',
        tests: [database],
      },
      {
        name: 'SQLite: the WAL is checkpointed more often than necessary',
        find: '; PRAGMA wal_autocheckpoint = ${checkpointPages}',
        replace: '',
        tests: ['test/storage/sqlite/checkpoint.test.ts'],
      },
      {
        name: 'SQLite: the journal mode is not WAL',
        find: 'PRAGMA journal_mode = WAL',
        replace: 'PRAGMA journal_mode = DELETE',
      },
      {
        name: 'SQLite: a failed transaction is not rolled back',
        find: `if (database.isTransaction) database.exec('ROLLBACK');`,
        replace: '',
      },
      {
        name: 'SQLite: a transaction takes the write lock late',
        find: 'BEGIN IMMEDIATE',
        replace: 'BEGIN',
        tests: ['test/storage/sqlite/locked.test.ts'],
      },
      {
        name: 'SQLite: opening a file does not wait for locks',
        find: 'new DatabaseSync(file, { timeout: busyTimeoutMs })',
        replace: 'new DatabaseSync(file)',
        tests: [database],
      },
      { name: 'SQLite: the WAL file of another application is recovered', find: 'readOnly: true, ', replace: '' },
      {
        name: 'SQLite: the file of another application is accepted',
        find: '!== applicationId',
        replace: '> applicationId',
      },
      {
        name: 'SQLite: the file of a newer version is accepted',
        find: 'version > migrations.length)',
        replace: 'version > migrations.length + 1)',
      },
      {
        name: 'SQLite: a WAL file left by a crash is trusted',
        find: 'isLogTrusted: !isLogLeft || tryToCheckpointLog(database, busyTimeoutMs)',
        replace: 'isLogTrusted: true',
        tests: [reopen],
      },
      {
        name: 'SQLite: reopening accepts another file',
        find: 'if (identifyFile(file) !== identity) throw',
        replace: `if (identity === '') throw`,
        tests: [reopen],
      },
      {
        name: 'SQLite: an empty file is opened for reading',
        find: `if (readVersion(database, file) === 0) throw`,
        replace: `if (readVersion(database, file) < 0) throw`,
        tests: [backup],
      },
    ],
  ),
  ...faultsIn(
    'src/storage/sqlite/file.ts',
    [file],
    [
      { name: 'SQLite file: other users can read the file', find: `'wx', 0o600`, replace: `'wx', 0o644` },
      { name: 'SQLite file: other users can read the folder', find: 'mode: 0o700', replace: 'mode: 0o755' },
      {
        name: 'SQLite file: an existing file is opened, which drops its locks',
        find: `openSync(path, 'wx'`,
        replace: `openSync(path, 'a'`,
      },
      {
        name: 'SQLite file: a file with a WAL file is rejected',
        find: '!hasLog(path) && ',
        replace: '',
        tests: [database],
      },
      {
        name: 'SQLite file: new folders are not synced',
        find: 'syncFolder(dirname(folder));',
        replace: 'continue;',
        tests: [sync],
      },
      { name: 'SQLite file: a truncated file is accepted', find: 'size < expectedBytes', replace: 'size === 0' },
    ],
  ),
  ...faultsIn(
    'src/storage/sqlite/result-code.ts',
    ['test/storage/sqlite/result-code.test.ts'],
    [
      {
        name: 'SQLite result codes: extended codes are not reduced',
        find: '(Number(error.errcode) & 0xff)',
        replace: 'Number(error.errcode)',
      },
      {
        name: 'SQLite result codes: an I/O error is not treated as a file fault',
        find: `'readOnly', 'ioError', `,
        replace: `'readOnly', `,
        tests: [reopen],
      },
    ],
  ),
  ...faultsIn(
    'src/storage/sqlite/version.ts',
    ['test/storage/sqlite/version.test.ts'],
    [
      {
        name: 'SQLite version: a release with the WAL reset bug is accepted',
        find: 'number >= 3_051_003',
        replace: 'number >= 3_051_002',
      },
      {
        name: 'SQLite version: a fixed maintenance release is rejected',
        find: 'number >= 3_050_007',
        replace: 'number >= 3_050_008',
      },
      {
        name: 'SQLite version: a Node.js release without SQLite is accepted',
        find: 'sqliteVersion !== undefined && !hasWalResetBug',
        replace: 'sqliteVersion === undefined || !hasWalResetBug',
        tests: ['test/cli/require-node.test.ts'],
      },
    ],
  ),
];
