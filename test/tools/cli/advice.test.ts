import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adviceFor } from '../../../src/tools/cli/advice.ts';
import { PlantStoreError } from '../../../src/index.ts';

/** An error as Node.js, node:sqlite or pg creates it. */
function coded(properties: object, message = 'failed'): Error {
  return Object.assign(new Error(message), properties);
}

describe('adviceFor', () => {
  const cases: [name: string, properties: object, advice: RegExp][] = [
    ['an unknown host', { code: 'ENOTFOUND' }, /^Check the host name/],
    ['a database that is not running', { code: 'ECONNREFUSED' }, /^Check the host and the port .* is running\.$/],
    ['a file without permissions', { code: 'EACCES' }, /^Check the owner and the permissions/],
    ['a full disk', { code: 'ENOSPC' }, /^Free space/],
    ['a wrong password', { code: '28P01' }, /^Check the user and the password/],
    ['a user that may not log in', { code: '28000' }, /^Check the user and the password/],
    ['a missing database', { code: '3D000' }, /^Create the database/],
    ['a missing schema', { code: '3F000' }, /^Create the schema/],
    ['a missing table', { code: '42P01' }, /^Check the database, the schema and the table/],
    ['a missing right', { code: '42501' }, /^Give the user .* the right/],
    ['a database that accepts only reads', { code: '25006' }, /^Connect to the primary/],
    ['a locked table', { code: '55P03' }, /^End the transaction that locks the table/],
    ['a canceled statement', { code: '57014' }, /^Check statement_timeout/],
    ['a locked SQLite file', { code: 'ERR_SQLITE_ERROR', errcode: 261 }, /^Try again/],
    ['a read-only SQLite file', { code: 'ERR_SQLITE_ERROR', errcode: 8 }, /^Check the owner and the permissions/],
  ];
  for (const [name, properties, advice] of cases) {
    it(`gives advice about ${name}, also if it is the cause`, () => {
      const error = coded(properties);
      assert.match(adviceFor(error) ?? '', advice);
      assert.match(adviceFor(new PlantStoreError('storage_unavailable', undefined, { cause: error })) ?? '', advice);
    });
  }

  it('names pg_hba.conf if the database refuses the host', () => {
    const message = 'no pg_hba.conf entry for host "10.0.1.22", user "plants", database "garden", no encryption';
    assert.match(adviceFor(coded({ code: '28000' }, message)) ?? '', /^Allow this host, user and database in pg_hba/);
  });

  it('gives none about an error whose message already says what to do, and none about an unknown code', () => {
    const cause = coded({ code: 'EACCES' });
    for (const error of [new Error('Do this.', { cause }), coded({ code: 'E' }), 'text', undefined]) {
      assert.equal(adviceFor(error), undefined);
    }
  });
});
