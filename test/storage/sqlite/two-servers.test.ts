import { join } from 'node:path';
import { describe } from 'node:test';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { testTwoServers } from '../../support/two-servers.ts';

for (const commitThread of [false, true]) {
  describe(`two servers over one SQLite file${commitThread ? ', with commit threads' : ''}`, () => {
    testTwoServers(async (t) => {
      const path = join(await temporaryFolder(t), 'plants.db');
      return () => new SqliteStorage(path, { commitThread });
    });
  });
}
