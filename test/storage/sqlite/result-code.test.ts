import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runInNewContext } from 'node:vm';
import { hasResultCode } from '../../../src/storage/sqlite/result-code.ts';

// Jest runs tests in a VM context with an `Error` of its own.
it('hasResultCode recognizes the primary code of an error of node:sqlite, even from another VM context', () => {
  const error: unknown = runInNewContext(`Object.assign(new Error('busy'), { errcode: 261 })`);
  assert.equal(hasResultCode(error, 'busy'), true);
  assert.equal(hasResultCode(error, 'corrupt'), false);
  for (const other of [new Error('no code'), undefined, null, 'text']) {
    assert.equal(hasResultCode(other, 'busy'), false);
  }
});
