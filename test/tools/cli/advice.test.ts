import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PlantStoreError } from '../../../src/index.ts';
import { adviceFor } from '../../../src/tools/cli/advice.ts';

/** Returns an error such as those of Node.js, node:sqlite and pg. */
function coded(code: string, errcode?: number, message = 'failed'): Error {
  return Object.assign(new Error(message), { code, ...(errcode !== undefined && { errcode }) });
}

describe('adviceFor', () => {
  const refused = 'no pg_hba.conf entry for host "10.0.1.22", user "plants", database "garden", no encryption';
  const cases: [what: string, error: Error, advice: RegExp][] = [
    ['an unknown host', coded('ENOTFOUND'), /^Check the host name/],
    ['a database that is not running', coded('ECONNREFUSED'), /^Check the host and the port .* is running\.$/],
    ['a file without permissions', coded('EACCES'), /^Check the owner and the permissions/],
    ['a full disk', coded('ENOSPC'), /^Free space/],
    ['a wrong password', coded('28P01'), /^Check the user and the password/],
    ['a user that may not log in', coded('28000'), /^Check the user and the password/],
    ['a host that the database refuses', coded('28000', undefined, refused), /^Allow this host, .* in pg_hba\.conf/],
    ['a missing database', coded('3D000'), /^Create the database/],
    ['a missing schema', coded('3F000'), /^Create the schema/],
    ['a missing table', coded('42P01'), /^Check the database, the schema and the table/],
    ['a missing right', coded('42501'), /^Give the user .* the right/],
    ['a database that accepts only reads', coded('25006'), /^Connect to the primary/],
    ['a locked table', coded('55P03'), /^End the transaction that locks the table/],
    ['a canceled statement', coded('57014'), /^Check statement_timeout/],
    ['a locked SQLite file', coded('ERR_SQLITE_ERROR', 261), /^Try again/],
    [
      'a read-only SQLite file',
      coded('ERR_SQLITE_ERROR', 8),
      /^Check .* permissions of the file, of its -wal and -shm files, and/,
    ],
  ];
  for (const [what, error, advice] of cases) {
    it(`returns advice about ${what}, even if that error is only the cause`, () => {
      assert.match(adviceFor(error) ?? '', advice);
      assert.match(adviceFor(new PlantStoreError('storage_unavailable', undefined, { cause: error })) ?? '', advice);
    });
  }

  it('returns nothing for an unknown code, and nothing for an error whose message already says what to do', () => {
    for (const error of [new Error('Do this.', { cause: coded('EACCES') }), coded('E'), 'text', undefined]) {
      assert.equal(adviceFor(error), undefined);
    }
  });
});
