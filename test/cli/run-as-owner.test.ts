import assert from 'node:assert/strict';
import { chmod, chown, lchown, mkdir, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { issueToken } from '../../src/tokens/issue.ts';
import { assertFails, callCommand } from '../support/call-command.ts';
import { runCommand, startServer } from '../support/command-line.ts';
import { commandEnvironment, runProgram } from '../support/run-program.ts';
import { main } from '../support/sources.ts';
import { createAll, rowOfPlants } from '../support/stored-plants.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

const [nobody, daemon] = [65_534, 1];

/** Creates a folder that belongs to another account. */
async function folderOf(t: HasAfter, uid: number): Promise<string> {
  const folder = await temporaryFolder(t);
  await chown(folder, uid, uid);
  return folder;
}

/** Creates files of root that no other account can read: a database with a plant, and a tokens file. */
async function folderOfRoot(t: HasAfter): Promise<string> {
  const folder = await temporaryFolder(t);
  await createAll(join(folder, 'plants.db'), rowOfPlants('ada', 1));
  await issueToken(join(folder, 'tokens.json'), { user: 'ada' });
  return folder;
}

async function contentsOf(folder: string): Promise<[string, string][]> {
  const names = (await readdir(folder)).sort();
  return Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'base64')]));
}

/** Commands that use one file of the working directory, and possibly another file of the folder `other`. */
const commandsWith = (other: string): string[] => [
  'export',
  'import',
  `backup ${other}/copy.db`,
  `backup copy.db --storage sqlite:${other}/plants.db`,
  `copy --from sqlite:plants.db --to sqlite:${other}/new.db`,
  `copy --from sqlite:${other}/plants.db --to sqlite:new.db`,
  `restore plants.db --storage sqlite:${other}/new.db`,
  `restore ${other}/plants.db`,
  'token list',
  'token create ada',
  'token revoke tk_0',
  `serve --port 0 --tokens ${other}/tokens.json`,
  `serve --port 0 --storage sqlite:${other}/plants.db`,
];

const skip = process.getuid?.() === 0 ? false : 'only root can run commands as another account';
describe('command that root runs in a folder of another account', { skip, concurrency: 2 }, () => {
  it('command of root › does not follow links of another account to files of root', async (t) => {
    const [victim, ownFolder] = [await folderOfRoot(t), await temporaryFolder(t)];
    const before = await contentsOf(victim);
    for (const { cwd, command, name } of [
      { cwd: await folderOf(t, nobody), command: ['export'], name: 'plants.db' },
      // In a folder of root, the link itself belongs to the other account.
      { cwd: ownFolder, command: ['token', 'create', 'eve'], name: 'tokens.json' },
    ]) {
      await symlink(join(victim, name), join(cwd, name));
      await lchown(join(cwd, name), nobody, nobody);
      const { code, stdout, stderr } = await runCommand(command, { cwd });
      assert.deepEqual([code, stdout], [1, ''], stderr);
    }
    assert.deepEqual(await contentsOf(victim), before);
  });

  it('command of root › names the user and the file that the user may not use, and the remedy', async (t) => {
    const victim = await folderOfRoot(t);
    const cwd = await folderOf(t, nobody);
    await rename(join(victim, 'tokens.json'), join(cwd, 'tokens.json'));
    for (const { command, problem } of [
      { command: 'token list', problem: `read ${join(cwd, 'tokens.json')}` },
      { command: `restore ${victim}/plants.db --storage sqlite:new.db`, problem: `read ${victim}/plants.db` },
    ]) {
      const { code, stderr } = await runCommand(command.split(' '), { cwd });
      assert.equal(code, 1);
      assert.ok(stderr.startsWith(`plant-store: The user nobody may not ${problem}: change its owner`), stderr);
    }
  });

  it('command of root › creates files as the owner of the folder, even after a server was killed', async (t) => {
    const cwd = await temporaryFolder(t);
    const folder = await folderOf(t, nobody);
    await chmod(cwd, 0o755);
    await symlink(folder, join(cwd, 'data'));
    const env = { PLANT_STORE_STORAGE: 'sqlite:data/plants.db', PLANT_STORE_TOKENS: 'data/tokens.json' };
    const server = await startServer(t, [], { cwd, env });
    await server.stop('SIGKILL');
    for (const command of [
      'export',
      'token create ada',
      'backup data/copy.db',
      'restore data/copy.db --storage sqlite:data/new.db',
    ]) {
      const { code, stderr } = await runCommand(command.split(' '), { cwd, env });
      assert.equal(code, 0, stderr);
    }
    const names = await readdir(folder);
    for (const name of ['copy.db', 'first-token.txt', 'new.db', 'plants.db', 'tokens.json']) {
      assert.ok(names.includes(name), name);
    }
    for (const name of names) {
      const { uid, gid, mode } = await stat(join(folder, name));
      assert.deepEqual([uid, gid, mode & 0o777], [nobody, nobody, 0o600], name);
    }
  });

  it('command of root › is refused for folders of two accounts, with a line that works', async (t) => {
    const [one, two] = [await folderOf(t, nobody), await folderOf(t, daemon)];
    const command = `copy --from sqlite:${one}/plants.db --to sqlite:${two}/plants.db`;
    await assertFails(command, { cwd: one }, /different accounts.* runuser -u nobody -- plant-store/);
    assert.deepEqual(await readdir(two), []);
  });

  it('command of root › is refused if the account has no name, or if root may not change its account', async (t) => {
    const [nameless, cwd, other] = [await folderOf(t, 61_183), await folderOf(t, nobody), await folderOfRoot(t)];
    const before = await contentsOf(other);
    for (const command of commandsWith(other)) {
      await assertFails(command, { cwd: nameless }, /account 61183, .* Run the command as this account/);
    }
    assert.deepEqual(await contentsOf(other), before);
    const args = ['--bounding-set=-setuid', process.execPath, main, 'token', 'create', 'ada'];
    const confined = await runProgram('setpriv', args, { cwd, env: commandEnvironment() });
    assert.equal(confined.code, 1);
    assert.match(confined.stderr, /account 65534, .* Run the command as this account/);
    assert.deepEqual([await readdir(nameless), await readdir(cwd)], [[], []]);
  });

  it('command of root › is refused if others can write to its folder, but not below a sticky folder', async (t) => {
    const cwd = await temporaryFolder(t);
    await mkdir(join(cwd, 'own'));
    for (const { mode, path, expected } of [
      { mode: 0o777, path: 'tokens.json', expected: 1 },
      { mode: 0o777, path: 'own/tokens.json', expected: 1 },
      { mode: 0o1777, path: 'tokens.json', expected: 1 },
      { mode: 0o1777, path: 'own/tokens.json', expected: 0 },
    ]) {
      await chmod(cwd, mode);
      const { code, stderr } = await callCommand(['token', 'create', 'ada', '--tokens', path], { cwd });
      assert.equal(code, expected, stderr);
      assert.equal(stderr.includes(`Other accounts can write to ${cwd}`), code === 1, stderr);
    }
    await chmod(cwd, 0o775);
    await chown(cwd, 0, nobody);
    await writeFile(join(cwd, 'tokens.json'), '{"version":1,"tokens":[]}');
    assert.equal((await callCommand(['token', 'list'], { cwd })).code, 1);
  });
});
