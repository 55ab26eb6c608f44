import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { link, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { findOtherPlace, syncFolder } from '../../src/files/file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const skip = process.platform === 'linux' ? false : 'only Linux has /proc';

it('findOtherPlace › finds a hard link, and a mount without the folder, but accepts 0 links', { skip }, async (t) => {
  const folder = await temporaryFolder(t);
  const [path, mounted] = [join(folder, 'file'), join(folder, 'a mount')];
  await writeFile(path, '');
  await link(path, `${path}.link`);
  assert.match(findOtherPlace(path) ?? '', /another hard link/);
  await rm(`${path}.link`);
  assert.equal(findOtherPlace(path), undefined);
  const file = openSync(path, 'r');
  await rm(path);
  assert.equal(findOtherPlace(`/proc/self/fd/${file}`), undefined);
  closeSync(file);
  for (const name of [path, mounted, `${path}.new`]) await writeFile(name, '');
  if (spawnSync('mount', ['--bind', path, mounted]).status !== 0) {
    t.skip('this process may not mount');
    return;
  }
  const beforeRename = findOtherPlace(mounted);
  // From now on, the mounted file has no link.
  await rename(`${path}.new`, path);
  const afterRename = findOtherPlace(mounted);
  execFileSync('umount', [mounted]);
  assert.match(beforeRename ?? '', /mount the folder/);
  assert.equal(afterRename, beforeRename);
});

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
