// Commits to the SQLite file at the given path until it is killed.
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { commitUntilKilled } from '../../../src/testing/sharing.ts';

const [path = ''] = process.argv.slice(2);
await commitUntilKilled(() => new SqliteStorage(path, { busyTimeoutMs: 60_000 }));
