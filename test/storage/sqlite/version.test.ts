import assert from 'node:assert/strict';
import { it } from 'node:test';
import { hasWalResetBug } from '../../../src/storage/sqlite/version.ts';

it('hasWalResetBug is true only for SQLite versions that have the bug, and for versions that it cannot read', () => {
  const affected = ['3.7.0', '3.44.5', '3.45.0', '3.49.1', '3.50.6', '3.51.0', '3.51.2', 'unknown'];
  assert.deepEqual(affected.filter(hasWalResetBug), affected);
  const fixed = ['3.44.6', '3.44.10', '3.50.7', '3.51.3', '3.51.10', '3.52.0', '3.53.4', '3.100.0', '4.0.0'];
  assert.deepEqual(fixed.filter(hasWalResetBug), []);
});
