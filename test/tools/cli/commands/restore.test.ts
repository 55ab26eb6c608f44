import assert from 'node:assert/strict';
import { chown, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { callCommand } from '../../../support/call-command.ts';
import { createAll, hostilePlants, readAll, rowOfPlants } from '../../../support/stored-plants.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { startTokenServer } from '../../../support/token-server.ts';

const restore = ['restore', 'backup.db'];

describe('plant-store restore', () => {
  it('replaces the file and its log, and keeps them under another name', async (t) => {
    const { cwd, server, create } = await startTokenServer(t, []);
    await create(1);
    await server.stop('SIGKILL');
    await createAll(join(cwd, 'backup.db'), hostilePlants);
    const { code, stderr } = await callCommand(restore, { cwd });
    assert.equal(code, 0, stderr);
    assert.deepEqual(await readAll(join(cwd, 'plants.db')), hostilePlants);
    assert.equal((await readAll(join(cwd, 'plants.db.before-restore'))).length, 1);
    assert.equal((await stat(join(cwd, 'plants.db'))).mode & 0o777, 0o600);
    const files = ['backup.db', 'plants.db', 'plants.db.before-restore', 'tokens.json', 'tokens.json.lock'];
    assert.deepEqual((await readdir(cwd)).sort(), files);

    // A second restore would overwrite the previous file.
    const again = await callCommand(restore, { cwd });
    assert.equal(again.code, 1);
    assert.match(again.stderr, /plants\.db\.before-restore exists/);
  });

  it('creates the file if it does not exist, and replaces a damaged file', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'backup.db'), hostilePlants);
    for (const damage of [undefined, 'damaged '.repeat(2000)]) {
      if (damage !== undefined) await writeFile(join(cwd, 'plants.db'), damage);
      assert.equal((await callCommand(restore, { cwd })).code, 0);
      assert.deepEqual(await readAll(join(cwd, 'plants.db')), hostilePlants);
    }
    assert.match(await readFile(join(cwd, 'plants.db.before-restore'), 'latin1'), /^damaged /);
  });

  it('refuses to replace a file in use, the backup itself, and a link that leads nowhere', async (t) => {
    const { cwd, server, create, call } = await startTokenServer(t, []);
    await create(1);
    await createAll(join(cwd, 'backup.db'), rowOfPlants('ada', 3));
    const files = await readdir(cwd);
    const { code, stderr } = await callCommand(restore, { cwd });
    assert.equal(code, 1);
    assert.match(stderr, /plants\.db is in use/);
    assert.equal((await callCommand(['restore', 'plants.db'], { cwd })).code, 2);
    await symlink('none/plants.db', join(cwd, 'dangling'));
    assert.equal((await callCommand([...restore, '--storage', 'sqlite:dangling'], { cwd })).code, 1);
    assert.equal(await readlink(join(cwd, 'dangling')), 'none/plants.db');
    await rm(join(cwd, 'dangling'));
    assert.deepEqual(await readdir(cwd), files);
    assert.equal((await create(2)).status, 200);
    assert.equal(((await call('GET', '/plants')).json as unknown[]).length, 2);
    assert.equal(await server.stop(), 0);
  });

  const skip = process.getuid?.() === 0 ? false : 'only root can give a file away';
  it('gives the file to the owner of the previous file, or else of the folder', { skip }, async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'backup.db'), []);
    await chown(cwd, 65_534, 65_534);
    assert.equal((await callCommand(restore, { cwd })).code, 0);
    await chown(join(cwd, 'plants.db'), 65_533, 65_532);
    assert.equal((await callCommand(restore, { cwd })).code, 0);
    const [previous, current] = [await stat(join(cwd, 'plants.db.before-restore')), await stat(join(cwd, 'plants.db'))];
    assert.deepEqual([previous.uid, current.uid, current.gid], [65_533, 65_533, 65_532]);
  });
});
