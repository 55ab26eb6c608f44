import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chown, copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { issueToken } from '../../src/tokens/issue.ts';
import { assertFails, callCommand } from '../support/call-command.ts';
import { createAll, rowOfPlants } from '../support/stored-plants.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

/** Creates a folder of root with the files that commands use. */
async function folderOfRoot(t: HasAfter): Promise<string> {
  const folder = await temporaryFolder(t);
  await createAll(join(folder, 'plants.db'), rowOfPlants('ada', 1));
  for (const name of ['copy.db', 'new.db']) await copyFile(join(folder, 'plants.db'), join(folder, name));
  await issueToken(join(folder, 'tokens.json'), { user: 'ada' });
  return folder;
}

/** Returns the names, owners, times and checksums of the files in a folder. */
function describeFiles(folder: string): string {
  return execFileSync('sh', ['-c', 'ls -ln; cksum *'], { cwd: folder, encoding: 'utf8' });
}

/** All ways to use a file of the working directory. Some commands also use another file, in the folder `other`. */
const commandsWith = (other: string): string[] => [
  'export',
  'import',
  `backup ${other}/none.db`,
  `backup copy.db --storage sqlite:${other}/plants.db`,
  `copy --from sqlite:plants.db --to sqlite:${other}/none.db`,
  `copy --from sqlite:${other}/plants.db --to sqlite:new.db`,
  `restore plants.db --storage sqlite:${other}/none.db`,
  `restore ${other}/plants.db --storage sqlite:new.db`,
  'token list',
  'token create ada',
  'token revoke tk_0',
  `serve --port 0 --tokens ${other}/tokens.json`,
  `serve --port 0 --storage sqlite:${other}/plants.db`,
];

/** Shell commands that let another account change a file of each command, and the account that root should use. */
const exposures = {
  'chown 65534 .': 'nobody',
  'chmod 770 .': 'NAME',
  // Old journals and an old lock, which SQLite and `token` would use.
  'touch plants.db-journal copy.db-journal new.db-journal tokens.json.new; chown 65534 *-journal *.new': 'nobody',
};

const skip = process.getuid?.() === 0 ? false : 'only root is refused';

it('plant-store as root › refuses files that another account can change', { skip }, async (t) => {
  const other = await folderOfRoot(t);
  for (const [exposure, account] of Object.entries(exposures)) {
    const cwd = await folderOfRoot(t);
    execFileSync('sh', ['-ec', exposure], { cwd });
    const before = [describeFiles(cwd), describeFiles(other)];
    for (const command of commandsWith(other)) {
      const { code, stdout, stderr } = await callCommand(command.split(' '), { cwd });
      assert.deepEqual([code, stdout], [2, ''], `${command}: ${stderr}`);
      assert.match(stderr, /\broot must not use it\b/);
      assert.ok(stderr.includes(`runuser -u ${account} -- plant-store ${command}`), stderr);
    }
    assert.deepEqual([describeFiles(cwd), describeFiles(other)], before);
  }
});

it('plant-store as root › suggests a runuser command without secrets', { skip }, async (t) => {
  const cwd = await temporaryFolder(t);
  await chown(cwd, 65_534, 0);
  const args = ['copy', '--from', "sqlite:it's.db", '--to', 'postgres://ada:sesame@localhost/plants'];
  const { stderr } = await callCommand(args, { cwd });
  assert.match(stderr, /^runuser -u nobody -- plant-store copy --from 'sqlite:it'\\''s\.db' --to …$/m);
  assert.doesNotMatch((await callCommand(['token', 'revoke', 'pst_0'], { cwd })).stderr, /pst_/);
  await chown(cwd, 61_183, 0);
  await assertFails('token list', { cwd }, / account 61183, .* --user 61183\.\n$/, 2);
});
