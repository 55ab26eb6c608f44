import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, copyFile, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { DatabaseSync } from 'node:sqlite';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { callCommand } from '../../support/call-command.ts';
import { createAll, hostilePlants, readAll, rowOfPlants } from '../../support/stored-plants.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';
import { startTokenServer } from '../../support/token-server.ts';

const restore = ['restore', 'backup.db'];

/** Creates a backup, and the files that a killed server leaves, with one plant in the WAL. Returns the folder. */
async function crashedFolder(t: HasAfter): Promise<string> {
  const { cwd, server, create } = await startTokenServer(t, []);
  await create(1);
  await server.stop('SIGKILL');
  await createAll(join(cwd, 'backup.db'), hostilePlants);
  return cwd;
}

/** Overwrites a part of a file, so that it is not an SQLite file, or not a WAL, any more. */
async function damage(path: string): Promise<void> {
  await using file = await open(path, 'r+');
  await file.write('damaged '.repeat(4), 0);
}

describe('plant-store restore', () => {
  it('replaces the file and its WAL, and keeps them under other names', async (t) => {
    const cwd = await crashedFolder(t);
    const { code, stderr } = await callCommand(restore, { cwd });
    assert.equal(code, 0, stderr);
    assert.deepEqual(await readAll(join(cwd, 'plants.db')), hostilePlants);
    assert.equal((await stat(join(cwd, 'plants.db'))).mode & 0o777, 0o600);
    const kept = ['plants.db.before-restore', 'plants.db.before-restore-wal'];
    const files = ['backup.db', 'plants.db', ...kept, 'tokens.json'];
    assert.deepEqual((await readdir(cwd)).sort(), files);
    for (const [n, name] of kept.entries()) {
      assert.ok(stderr.includes(join(cwd, name)), stderr);
      // A second restore would overwrite the previous files.
      const again = await callCommand(restore, { cwd });
      assert.equal(again.code, 1);
      assert.ok(again.stderr.includes(`${name} exists`), again.stderr);
      await rename(join(cwd, name), join(cwd, n === 0 ? 'moved.db' : 'moved.db-wal'));
    }
    assert.equal((await readAll(join(cwd, 'moved.db'))).length, 1);
  });

  for (const [title, change] of [
    ['a damaged file', damage],
    ['a damaged WAL', (path: string) => damage(`${path}-wal`)],
    ['an empty file', truncate],
    ['a missing file', rm],
  ] as const) {
    it(`keeps ${title} and the WAL as they were`, async (t) => {
      const cwd = await crashedFolder(t);
      const path = join(cwd, 'plants.db');
      await change(path);
      const digests = (name: string): Promise<(string | false)[]> =>
        Promise.all(
          [name, `${name}-wal`].map(async (each) => existsSync(each) && hash('sha256', await readFile(each), 'hex')),
        );
      const before = await digests(path);
      const { code, stderr } = await callCommand(restore, { cwd });
      assert.equal(code, 0, stderr);
      assert.deepEqual(await digests(`${path}.before-restore`), before);
      assert.deepEqual(await readAll(path), hostilePlants);
    });
  }

  it('can be repeated if it was killed when there was no file, which no server replaces by an empty one', async (t) => {
    const cwd = await temporaryFolder(t);
    const path = join(cwd, 'plants.db');
    await createAll(join(cwd, 'backup.db'), hostilePlants);
    await writeFile(`${path}.restoring`, '');
    assert.throws(() => new SqliteStorage(path), { code: 'storage_unsupported', message: /restore/ });
    assert.deepEqual((await readdir(cwd)).sort(), ['backup.db', 'plants.db.restoring']);
    assert.equal((await callCommand(restore, { cwd })).code, 0);
    assert.deepEqual(await readAll(path), hostilePlants);
  });

  it('moves away the journal of an interrupted transaction, which would undo the restore', async (t) => {
    const cwd = await temporaryFolder(t);
    const [path, other] = [join(cwd, 'plants.db'), join(cwd, 'other.db')];
    await createAll(join(cwd, 'backup.db'), hostilePlants);
    const database = new DatabaseSync(other);
    // SQLite completes the journal before it writes the changed pages that its cache cannot hold.
    database.exec('PRAGMA cache_size = 1; CREATE TABLE other (text); BEGIN');
    for (let n = 0; n < 100; n++) database.prepare('INSERT INTO other VALUES (?)').run('x'.repeat(1000));
    await copyFile(`${other}-journal`, `${path}-journal`);
    database.close();
    const { code, stderr } = await callCommand(restore, { cwd });
    assert.equal(code, 0, stderr);
    assert.deepEqual(await readAll(path), hostilePlants);
  });

  it('refuses a backup that has the name of its copy, and does not remove it', async (t) => {
    const cwd = await temporaryFolder(t);
    const name = 'plants.db.restoring';
    await createAll(join(cwd, name), hostilePlants);
    await symlink(name, join(cwd, 'link'));
    for (const given of [name, 'link']) {
      const { code, stderr } = await callCommand(['restore', given], { cwd });
      assert.equal(code, 2, stderr);
      assert.match(stderr, /plants\.db\.restoring.*rename/);
    }
    assert.deepEqual(await readAll(join(cwd, name)), hostilePlants);
  });

  for (const ending of ['-wal', '-journal']) {
    it(`refuses to run while an old ${ending.slice(1)} file of its copy exists, and removes nothing`, async (t) => {
      const cwd = await temporaryFolder(t);
      await createAll(join(cwd, 'backup.db'), hostilePlants);
      const old = ['plants.db.restoring', `plants.db.restoring${ending}`];
      for (const name of old) await writeFile(join(cwd, name), 'old');
      const { code, stderr } = await callCommand(restore, { cwd });
      assert.equal(code, 1, stderr);
      assert.ok(stderr.includes(`restoring${ending} exists: move it away`), stderr);
      assert.deepEqual((await readdir(cwd)).sort(), ['backup.db', ...old]);
    });
  }

  it('refuses to replace something that is not a file', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'backup.db'), []);
    execFileSync('mkfifo', ['pipe'], { cwd });
    await mkdir(join(cwd, 'folder'));
    for (const name of ['pipe', 'folder']) {
      const { code, stderr } = await callCommand(['restore', 'backup.db', '--storage', `sqlite:${name}`], { cwd });
      assert.equal(code, 1);
      assert.match(stderr, /is not a file/);
    }
    assert.deepEqual((await readdir(cwd)).sort(), ['backup.db', 'folder', 'pipe']);
  });

  it('refuses to replace a file in use and the backup itself', async (t) => {
    const { cwd, create, call } = await startTokenServer(t, []);
    await create(1);
    await createAll(join(cwd, 'backup.db'), rowOfPlants('ada', 3));
    const files = await readdir(cwd);
    const { code, stderr } = await callCommand(restore, { cwd });
    assert.equal(code, 1);
    assert.match(stderr, /plants\.db is in use/);
    assert.equal((await callCommand(['restore', 'plants.db'], { cwd })).code, 2);
    assert.deepEqual(await readdir(cwd), files);
    assert.equal((await create(2)).status, 200);
    assert.equal(((await call('GET', '/plants')).json as unknown[]).length, 2);

    await damage(join(cwd, 'plants.db'));
    assert.match((await callCommand(restore, { cwd })).stderr, /plants\.db is in use/);
    assert.deepEqual(await readdir(cwd), files);
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
