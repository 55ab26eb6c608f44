import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';
import { findExposure } from '../../src/files/exposure.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Shell commands, each with the exposed path after it. The path of the file is `link/file`, and `link` is `own`. */
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

const skip = process.getuid?.() === 0 ? false : 'only root can give files away';
it('findExposure › returns the first folder, link or file that another account can change', { skip }, async (t) => {
  const hasAcl = spawnSync('setfacl', ['--version']).error === undefined;
  if (!hasAcl) t.diagnostic('not tested with access control lists: setfacl is not installed');
  for (const [command, exposed] of Object.entries({ ...cases, ...(hasAcl ? aclCases : {}) })) {
    const folder = await temporaryFolder(t);
    const script = `umask 022; mkdir own; ln -s own link; touch own/file; ${command}`;
    execFileSync('sh', ['-ec', script], { cwd: folder });
    assert.equal(findExposure(join(folder, 'link/file'))?.slice(folder.length), exposed, command);
  }
});

it('findExposure › throws an error if a link points to itself', { skip }, async (t) => {
  const folder = await temporaryFolder(t);
  execFileSync('ln', ['-s', 'file', 'file'], { cwd: folder });
  assert.throws(() => findExposure(join(folder, 'file')), { code: 'ELOOP' });
});
