import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { hasResultCode } from '../../../src/storage/sqlite/result-code.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describe('hasResultCode', () => {
  it('matches the primary code of an extended one', async (t) => {
    const path = join(await temporaryFolder(t), 'plants.db');
    using reader = new DatabaseSync(path);
    using writer = new DatabaseSync(path);
    writer.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a)');
    reader.exec('BEGIN; SELECT * FROM t');
    writer.exec('INSERT INTO t VALUES (1)');
    // 517 is SQLITE_BUSY_SNAPSHOT, an extended code of SQLITE_BUSY.
    assert.throws(
      () => {
        reader.exec('INSERT INTO t VALUES (2)');
      },
      (error: Error & { errcode?: number }) => {
        assert.equal(error.errcode, 517);
        return hasResultCode(error, 'busy') && !hasResultCode(error, 'corrupt');
      },
    );
  });

  it('returns false for other errors', () => {
    assert.equal(hasResultCode(new Error('no'), 'error'), false);
    assert.equal(hasResultCode({ errcode: 5 }, 'busy'), false);
  });
});
