import assert from 'node:assert/strict';
import { chmod, chown, lchown, mkdir, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { issueToken } from '../../src/tokens/issue.ts';
import { assertFails, callCommand } from '../support/call-command.ts';
import { runCommand, startServer } from '../support/command-line.ts';
import { commandEnvironment, runProgram } from '../support/run-program.ts';
import { plantStore } from '../support/sources.ts';
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

const commands = [
  'export',
  'import',
  'backup copy.db',
  'copy --from sqlite:plants.db --to sqlite:new.db',
  'copy --from sqlite:own.db --to sqlite:plants.db',
  'restore plants.db --storage sqlite:new.db',
  'restore own.db',
  'token create ada',
  'serve --port 0',
];

const skip = process.getuid?.() === 0 ? false : 'only root can run commands as another account';
describe('command that root runs in a folder of another account', { skip, concurrency: 2 }, () => {
  it('command of root › does not follow links of another account to files of root', async (t) => {
    const victim = await folderOfRoot(t);
    const before = await contentsOf(victim);
    const [cwd, ownFolder] = [await folderOf(t, nobody), await temporaryFolder(t)];
    await createAll(join(cwd, 'own.db'), rowOfPlants('eve', 1));
    await chown(join(cwd, 'own.db'), nobody, nobody);
    for (const name of ['plants.db', 'tokens.json']) await symlink(join(victim, name), join(cwd, name));
    for (const command of commands) {
      const { code, stdout, stderr } = await runCommand(command.split(' '), { cwd });
      assert.deepEqual([code, stdout], [1, ''], `${command}: ${stderr}`);
    }
    // In a folder of root, the link itself belongs to the other account.
    await symlink(join(victim, 'tokens.json'), join(ownFolder, 'tokens.json'));
    await lchown(join(ownFolder, 'tokens.json'), nobody, nobody);
    assert.equal((await runCommand(['token', 'create', 'eve'], { cwd: ownFolder })).code, 1);
    assert.deepEqual(await contentsOf(victim), before);
  });

  it('command of root › names the user and the file that the user may not use, and the remedy', async (t) => {
    const victim = await folderOfRoot(t);
    const cwd = await folderOf(t, nobody);
    await rename(join(victim, 'tokens.json'), join(cwd, 'tokens.json'));
    await createAll(join(cwd, 'plants.db'), []);
    await chown(join(cwd, 'plants.db'), nobody, nobody);
    for (const { command, problem } of [
      { command: 'token list', problem: `read ${join(cwd, 'tokens.json')}` },
      { command: `backup ${victim}/copy.db`, problem: `write ${victim}` },
      { command: `restore ${victim}/plants.db --storage sqlite:new.db`, problem: `read ${victim}/plants.db` },
    ]) {
      const { code, stderr } = await runCommand(command.split(' '), { cwd });
      assert.equal(code, 1);
      assert.ok(stderr.startsWith(`plant-store: The user nobody may not ${problem}: change its owner`), stderr);
    }
  });

  it('command of root › creates files as the owner of the folder, even after a killed server and through a link', async (t) => {
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
    for (const name of names) assert.equal((await stat(join(folder, name))).uid, nobody, name);
    const again = await startServer(t, [], { cwd, env });
    assert.equal(await again.stop(), 0);
  });

  it('command of root › is refused if the files are in folders of two accounts, with a line that works', async (t) => {
    const [one, two] = [await folderOf(t, nobody), await folderOf(t, daemon)];
    const command = `copy --from sqlite:${one}/plants.db --to sqlite:${two}/plants.db`;
    await assertFails(command, { cwd: one }, /different accounts.* runuser -u nobody -- plant-store/);
    assert.deepEqual(await readdir(two), []);
  });

  it('command of root › is refused if the account has no name, or if root may not change its account', async (t) => {
    const [nameless, cwd] = [await folderOf(t, 61_183), await folderOf(t, nobody)];
    const problem = /account 61183, .* Run the command as this account/;
    await assertFails('token create ada', { cwd: nameless }, problem);
    const args = ['--bounding-set=-setuid', process.execPath, ...plantStore, 'token', 'create', 'ada'];
    const confined = await runProgram('setpriv', args, { cwd, env: commandEnvironment() });
    assert.equal(confined.code, 1);
    assert.match(confined.stderr, /account 65534, .* Run the command as this account/);
    assert.deepEqual([await readdir(nameless), await readdir(cwd)], [[], []]);
  });

  it('command of root › is refused if other accounts can write to its folder, but not below a sticky folder', async (t) => {
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
