import assert from 'node:assert/strict';
import { chmod, chown, copyFile, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { issueToken } from '../../src/tokens/issue.ts';
import { callCommand } from '../support/call-command.ts';
import { createAll, rowOfPlants } from '../support/stored-plants.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

const nobody = 65_534;
const names = ['plants.db', 'tokens.json', 'copy.db', 'new.db'];

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

/** Returns a journal that makes SQLite before 3.52 remove the file `victim`: https://sqlite.org/fileformat2.html */
function journalThatRemoves(victim: string, pages: number): Buffer {
  const magic = Buffer.from('d9d505f920a163d7', 'hex');
  const name = Buffer.from(victim);
  const numbers = (...values: number[]): Buffer =>
    Buffer.concat(values.map((value) => Buffer.from(value.toString(16).padStart(8, '0'), 'hex')));
  const header = Buffer.concat([magic, numbers(0, 0, pages, 512, 4096)], 512);
  const checksum = name.reduce((sum, byte) => sum + byte, 0);
  return Buffer.concat([header, numbers(1), name, numbers(name.length, checksum), magic]);
}

/** Plants an old journal of another account beside each database, and an old lock beside the tokens file. */
async function plantOldFiles(folder: string): Promise<void> {
  const journal = journalThatRemoves(join(folder, 'victim'), (await stat(join(folder, 'plants.db'))).size / 4096);
  await writeFile(join(folder, 'victim'), '');
  for (const name of names) {
    const path = join(folder, name.endsWith('.db') ? `${name}-journal` : `${name}.new`);
    await writeFile(path, journal);
    await chown(path, nobody, 0);
  }
}

/** How another account can change what the commands use, and the account that they name. */
const changes: readonly { change: (folder: string) => Promise<unknown>; account: string }[] = [
  { change: (folder) => chown(folder, nobody, 0), account: 'nobody' },
  { change: (folder) => chmod(folder, 0o770), account: 'NAME' },
  { change: plantOldFiles, account: 'nobody' },
];

const skip = process.getuid?.() === 0 ? false : 'only root is refused';

it(
  'plant-store as root › refuses files that another account can change, and prints the line to run',
  { skip },
  async (t) => {
    for (const { change, account } of changes) {
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
  },
);

it(
  'plant-store as root › names the UID of an account without a name, and the flag of a container',
  { skip },
  async (t) => {
    const cwd = await folderOfRoot(t);
    await chown(cwd, 61_183, 0);
    const { code, stderr } = await callCommand(['token', 'list'], { cwd });
    assert.equal(code, 2);
    assert.match(stderr, /^plant-store: .* account 61183, .* --user 61183\.\n$/);
  },
);

it(
  'plant-store as root › quotes the arguments in the line to run, and omits passwords and tokens',
  { skip },
  async (t) => {
    const cwd = await folderOfRoot(t);
    await chown(cwd, nobody, 0);
    const args = ['copy', '--from', "sqlite:it's.db", '--to', 'postgres://ada:sesame@localhost/plants'];
    const { stderr } = await callCommand(args, { cwd });
    assert.match(stderr, /^runuser -u nobody -- plant-store copy --from 'sqlite:it'\\''s\.db' --to …$/m);
    assert.doesNotMatch((await callCommand(['token', 'revoke', 'pst_0'], { cwd })).stderr, /pst_/);
  },
);
