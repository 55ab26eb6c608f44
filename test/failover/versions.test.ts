import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isAtLeast } from './versions.ts';

describe('isAtLeast', () => {
  it('compares the numbers of two versions', () => {
    for (const version of ['3.1', '3.1.0', '3.1.10', '3.10.0', '4.0', '10.0.0']) {
      assert.ok(isAtLeast(version, '3.1.0'), version);
    }
    for (const version of ['3', '3.0.2', '3.0.10', '2.9.9']) {
      assert.ok(!isAtLeast(version, '3.1.0'), version);
    }
  });
});
