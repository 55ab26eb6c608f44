import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PlantStoreError } from '../../../src/index.ts';
import { adviceFor, isDiskFull } from '../../../src/tools/cli/advice.ts';

/** Returns an error such as those of Node.js, node:sqlite and pg. */
function coded(code: string, errcode?: number): Error {
  return Object.assign(new Error('failed'), { code, ...(errcode !== undefined && { errcode }) });
}

describe('adviceFor', () => {
  const cases: [error: Error, keyword: string][] = [
    [coded('ENOTFOUND'), 'host name'],
    [coded('ECONNREFUSED'), 'is running'],
    [coded('EACCES'), 'permissions'],
    [new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'), 'PGPASSWORD'],
    [coded('42P01'), 'schema'],
    [coded('42501'), 'rights'],
    [coded('ERR_SQLITE_ERROR', 261), 'Try again'],
    [coded('ERR_SQLITE_ERROR', 8), 'permissions'],
  ];
  for (const [error, keyword] of cases) {
    it(`mentions '${keyword}' for ${JSON.stringify(error)} ${error.message}, even if it is only the cause`, () => {
      assert.ok(adviceFor(error)?.includes(keyword));
      const wrapped = new PlantStoreError('storage_unavailable', undefined, { cause: error });
      assert.ok(adviceFor(wrapped)?.includes(keyword));
    });
  }

  it('returns nothing for an unknown code, and nothing for an error whose message already says what to do', () => {
    for (const error of [new Error('Do this.', { cause: coded('EACCES') }), coded('E'), 'text', undefined]) {
      assert.equal(adviceFor(error), undefined);
    }
  });
});

describe('isDiskFull', () => {
  it('recognizes a full disk of SQLite, PostgreSQL and Node.js', () => {
    for (const error of [coded('ERR_SQLITE_ERROR', 13), coded('53100'), coded('ENOSPC')]) {
      assert.ok(isDiskFull(new PlantStoreError('storage_unavailable', undefined, { cause: error })));
    }
    for (const error of [coded('ERR_SQLITE_ERROR', 10), undefined]) assert.ok(!isDiskFull(error));
  });
});
