import assert from 'node:assert/strict';
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { it } from 'node:test';
import { syncFolder } from '../../src/files/file.ts';

const skip = process.platform === 'linux' ? false : 'only Linux has /proc';
it('syncFolder › does nothing if the file system does not support fsync for folders', { skip }, (t) => {
  const folder = openSync('/proc', 'r');
  t.after(() => {
    closeSync(folder);
  });
  assert.throws(() => {
    fsyncSync(folder);
  });
  syncFolder('/proc');
});
