import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs, { closeSync, fsyncSync, openSync } from 'node:fs';
import { rename, rm, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { it } from 'node:test';
import { findExposure, findOtherPlace, hasFile, syncFolder } from '../../src/files/file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const skip = process.platform === 'linux' ? false : 'only Linux has /proc';

it('findOtherPlace › reports a mount of a file without its folder, but accepts 0 or 1 links', { skip }, async (t) => {
  const folder = await temporaryFolder(t);
  const [path, mounted] = [join(folder, 'file'), join(folder, 'a mount')];
  await writeFile(path, '');
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

it('hasFile › accepts a file that another process creates meanwhile, but no link without a target', async (t) => {
  const path = join(await temporaryFolder(t), 'file');
  await symlink(`${path}.target`, path);
  assert.throws(() => hasFile(path), /is a link to a file that does not exist/);
  await rm(path);
  assert.equal(hasFile(path), false);
  let calls = 0;
  const exists = t.mock.method(fs, 'existsSync', () => calls++ > 0);
  syncBuiltinESMExports();
  await writeFile(path, '');
  assert.equal(hasFile(path), true);
  exists.mock.restore();
  syncBuiltinESMExports();
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

/** Shell commands, and the path that each exposes. The file is `link/file`, and `link` is a symbolic link to `own`. */
const cases: Readonly<Record<string, string | undefined>> = {
  true: undefined,
  'rm own/file': undefined,
  'ln -sf ../own/../link/target own/file': undefined,
  'chown 65534 .': '',
  'chown 65534 own': '/own',
  'chown -h 65534 link': '/link',
  'chown 65534 own/file': '/link/file',
  'mkdir new && chown 65534 new && ln -sf ../new/file own/file': '/link/../new',
  'chmod g+w .': '',
  'chmod o+w .': '',
  'chmod g+w own': '/link',
  'chmod o+w own': '/link',
  'chmod g+w own/file': '/link/file',
  // Other accounts can create files in a sticky folder, but cannot replace those of root.
  'chmod 1777 .': undefined,
  'chmod 1777 . && rm -r own': '',
  'chmod 1777 own': '/link',
  'ln -sf "$PWD/file" own/file && chmod 1777 .': '',
};
const aclCases = { 'setfacl -m u:65534:rwx own': '/link', 'setfacl -m u:65534:rw own/file': '/link/file' };

const skipUnlessRoot = process.getuid?.() === 0 ? false : 'only root can give files away';
it('findExposure › returns the first path that another account can change', { skip: skipUnlessRoot }, async (t) => {
  const hasAcl = spawnSync('setfacl', ['--version']).error === undefined;
  if (!hasAcl) t.diagnostic('not tested with access control lists: setfacl is not installed');
  for (const [command, exposed] of Object.entries({ ...cases, ...(hasAcl ? aclCases : {}) })) {
    const folder = await temporaryFolder(t);
    const script = `umask 022; mkdir own; ln -s own link; touch own/file; ${command}`;
    execFileSync('sh', ['-ec', script], { cwd: folder });
    assert.equal(findExposure(join(folder, 'link/file'))?.slice(folder.length), exposed, command);
  }
});
