import assert from 'node:assert/strict';
import { chmod, chown, copyFile, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { issueToken } from '../../src/tokens/issue.ts';
import { assertFails, callCommand } from '../support/call-command.ts';
import { createAll, rowOfPlants } from '../support/stored-plants.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

const nobody = 65_534;

/** Creates a folder of root with the files that commands use. */
async function folderOfRoot(t: HasAfter): Promise<string> {
  const folder = await temporaryFolder(t);
  await createAll(join(folder, 'plants.db'), rowOfPlants('ada', 1));
  for (const name of ['copy.db', 'new.db']) await copyFile(join(folder, 'plants.db'), join(folder, name));
  await issueToken(join(folder, 'tokens.json'), { user: 'ada' });
  return folder;
}

async function contentsOf(folder: string): Promise<unknown[]> {
  const paths = (await readdir(folder)).sort().map((name) => join(folder, name));
  return Promise.all(paths.map(async (path) => [path, (await stat(path)).uid, await readFile(path, 'hex')]));
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

/** Leaves an old journal of another account beside each database, and an old lock beside the tokens file. */
async function leaveOldFiles(folder: string): Promise<void> {
  for (const name of ['plants.db-journal', 'copy.db-journal', 'new.db-journal', 'tokens.json.new']) {
    await writeFile(join(folder, name), '');
    await chown(join(folder, name), nobody, 0);
  }
}

const skip = process.getuid?.() === 0 ? false : 'only root is refused';

it('root of plant-store › must not use files that another account can change', { skip }, async (t) => {
  for (const { change, account } of [
    { change: (folder: string) => chown(folder, nobody, 0), account: 'nobody' },
    { change: (folder: string) => chmod(folder, 0o770), account: 'NAME' },
    { change: leaveOldFiles, account: 'nobody' },
  ]) {
    const [cwd, other] = [await folderOfRoot(t), await folderOfRoot(t)];
    await change(cwd);
    const before = [await contentsOf(cwd), await contentsOf(other)];
    for (const command of commandsWith(other)) {
      const { code, stdout, stderr } = await callCommand(command.split(' '), { cwd });
      assert.deepEqual([code, stdout], [2, ''], `${command}: ${stderr}`);
      assert.match(stderr, /\broot must not use it\b/);
      assert.ok(stderr.includes(`runuser -u ${account} -- plant-store ${command}`), stderr);
    }
    assert.deepEqual([await contentsOf(cwd), await contentsOf(other)], before);
  }
});

it('root of plant-store › is shown quoted arguments without secrets, or the UID of an account', { skip }, async (t) => {
  const cwd = await folderOfRoot(t);
  await chown(cwd, nobody, 0);
  const args = ['copy', '--from', "sqlite:it's.db", '--to', 'postgres://ada:sesame@localhost/plants'];
  const { stderr } = await callCommand(args, { cwd });
  assert.match(stderr, /^runuser -u nobody -- plant-store copy --from 'sqlite:it'\\''s\.db' --to …$/m);
  assert.doesNotMatch((await callCommand(['token', 'revoke', 'pst_0'], { cwd })).stderr, /pst_/);
  await chown(cwd, 61_183, 0);
  await assertFails('token list', { cwd }, / account 61183, .* --user 61183\.\n$/, 2);
});
