import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { storageSetting, UsageError } from '../../../src/tools/cli/command.ts';
import type { Setting } from '../../../src/tools/cli/command.ts';
import { openStorage, storagePlace } from '../../../src/tools/cli/open-storage.ts';
import { MemoryStorage } from '../../../src/index.ts';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { callService } from '../../support/call.ts';
import { runCommand, startServer } from '../../support/command-line.ts';
import { runProgram } from '../../support/run-program.ts';
import { main, tsx } from '../../support/sources.ts';
import { createAll, owned, readAll } from '../../support/stored-plants.ts';
import { hasProgram } from '../../support/system-fault.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { create } from '../../support/writes.ts';

const flag = (text: string): Setting => ({ text, source: '--storage' });

/** Overwrites the schema in the first page, after the header of the file. */
async function damage(path: string): Promise<void> {
  const file = await open(path, 'r+');
  await file.write(Buffer.alloc(400, 0xff), 0, 400, 100);
  await file.close();
}

describe('openStorage', () => {
  it('returns a MemoryStorage for "memory"', async (t) => {
    const storage = await openStorage(flag('memory'));
    t.after(() => storage.close());
    assert.ok(storage instanceof MemoryStorage);
  });

  it('creates a file that storagePlace has called new', async (t) => {
    const file = join(await temporaryFolder(t), 'plants.db');
    const setting = flag(`sqlite:${file}`);
    assert.equal(storagePlace(setting), `in the new file ${file}`);
    await (await openStorage(setting)).close();
    assert.equal(storagePlace(setting), `in ${file}`);
  });

  it('fails with one sentence that names the file if the disk is full', async (t) => {
    if (!hasProgram(t, 'prlimit')) return;
    const cwd = await temporaryFolder(t);
    // As on a full disk, SQLite cannot write the first page.
    const args = ['--fsize=1000', process.execPath, '--import', tsx, main, 'import', '--storage', 'sqlite:plants.db'];
    await writeFile(join(cwd, 'plants.db'), '');
    const { code, stderr } = await runProgram('prlimit', args, { cwd });
    assert.equal(code, 1);
    const file = join(cwd, 'plants.db');
    assert.match(
      stderr,
      new RegExp(`${file} cannot be opened: the disk is full or failing\\. Free space, and try again\\.`),
    );
  });

  it('creates the file of "sqlite:FILE" and its folders, for their owner only', async (t) => {
    const folder = join(await temporaryFolder(t), 'deep', 'etc');
    const file = join(folder, 'name: with spaces?.db');
    const storage = await openStorage(flag(`sqlite:${file}`));
    t.after(() => storage.close());
    assert.ok(storage instanceof SqliteStorage);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
  });

  it('commits in a worker thread for "sqlite:FILE?commitThread=true", and only then', async (t) => {
    const file = join(await temporaryFolder(t), 'plants.db');
    let threads = 0;
    const count = (): void => {
      threads++;
    };
    process.on('worker', count);
    t.after(() => process.off('worker', count));
    for (const [text, expected] of [
      [`sqlite:${file}`, 0],
      [`sqlite:${file}?commitThread=false`, 0],
      [`sqlite:${file}?commitThread=true`, 1],
    ] as const) {
      const storage = await openStorage(flag(text));
      await storage.commit([create(1)]);
      await storage.close();
      assert.equal(threads, expected, text);
    }
  });

  const others: [name: string, suggested?: string][] = [
    [''],
    ['sqlite'],
    ['sqlite:'],
    ['sqlite::memory:'],
    ['postgres'],
    ['mongodb://localhost'],
    ['Memory', 'memory'],
    ['memory:', 'memory'],
    ['memroy', 'memory'],
    ['plants.db', 'sqlite:plants.db'],
    ['../my data/plants', 'sqlite:../my data/plants'],
    ['/var/lib/plants.sqlite3', 'sqlite:/var/lib/plants.sqlite3'],
  ];
  for (const [name, suggested] of others) {
    const rest = suggested === undefined ? '' : ` Did you mean '${suggested}'?`;
    it(`rejects ${JSON.stringify(name)}, quotes it and suggests ${suggested ?? 'nothing'}`, async () => {
      const message = `--storage must be 'memory', 'sqlite:FILE' or 'postgres://…', not '${name}'.${rest}`;
      await assert.rejects(
        openStorage(flag(name)),
        (error) => error instanceof UsageError && error.message === message,
      );
    });
  }

  const secretive: [string, string][] = [
    ['mysql://ada:sesame@localhost/plants', 'mysql://…@localhost/plants'],
    ['postgre:/ada:sesame@localhost/plants', 'postgre:/…@localhost/plants'],
    ['Postgres://localhost/plants?password=sesame', 'Postgres://localhost/plants?…'],
    ['ada:sesame@localhost', 'ada:…@localhost'],
  ];
  for (const [name, quoted] of secretive) {
    it(`quotes an invalid connection string as ${quoted}`, async () => {
      const message = `--storage must be 'memory', 'sqlite:FILE' or 'postgres://…', not '${quoted}'.`;
      await assert.rejects(
        openStorage(flag(name)),
        (error) => error instanceof UsageError && error.message === message,
      );
    });
  }
});

describe('plant-store serve --storage', { concurrency: 4 }, () => {
  it('fails with one sentence if the file is not a plant store, and creates no token', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeFile(join(cwd, 'letter.txt'), 'Dear Ada, '.repeat(20));
    const args = ['serve', '--port', '0', '--storage', 'sqlite:letter.txt'];
    const { code, stdout, stderr } = await runCommand(args, { cwd });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^plant-store: .*letter\.txt is not an SQLite database.*\n$/);
    assert.ok(!existsSync(join(cwd, 'tokens.json')));
  });

  it('prints the cause if the file is damaged', async (t) => {
    const cwd = await temporaryFolder(t);
    const storage = await openStorage(flag(`sqlite:${join(cwd, 'plants.db')}`));
    await storage.close();
    await damage(join(cwd, 'plants.db'));
    const { code, stdout, stderr } = await runCommand(['serve', '--port', '0'], { cwd });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(
      stderr,
      /^plant-store: .*plants\.db is damaged\. It was left as it is\. \(.+\) Choose another storage, or restore a backup\.\n$/,
    );
  });
});

describe('plant-store with "sqlite:FILE?commitThread=true"', { concurrency: 4 }, () => {
  const storage = 'sqlite:plants.db?commitThread=true';

  it('serves, copies, exports and backs up the plants of FILE', async (t) => {
    const cwd = await temporaryFolder(t);
    const server = await startServer(t, ['--storage', storage, '--log', 'off'], { cwd });
    const token = (await readFile(join(cwd, 'first-token.txt'), 'utf8')).trimEnd();
    const ids = Array.from({ length: 20 }, (_, id) => id);
    const responses = await Promise.all(
      ids.map((id) => callService(server.url, 'POST', '/plants', { token, body: `{"id":${id},"name":"Fern"}` })),
    );
    for (const { status } of responses) assert.equal(status, 200);
    assert.equal(((await callService(server.url, 'GET', '/plants', { token })).json as unknown[]).length, 20);

    for (const args of [
      ['backup', '--storage', storage, 'backup.db'],
      ['copy', '--from', storage, '--to', 'sqlite:copy.db?commitThread=true'],
      ['export', '--storage', storage],
    ]) {
      const { code, stderr } = await runCommand(args, { cwd });
      assert.equal(code, 0, stderr);
    }
    assert.equal(await server.stop(), 0);
    const expected = ids.map((id) => owned('me', { id: BigInt(id), name: 'Fern' }));
    for (const name of ['plants.db', 'backup.db', 'copy.db']) {
      assert.deepEqual(await readAll(join(cwd, name)), expected, name);
    }
    assert.ok(!(await readdir(cwd)).some((name) => name.includes('?')));
  });

  it('is the same storage as "sqlite:FILE"', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'plants.db'), []);
    const { code, stderr } = await runCommand(['copy', '--from', storage, '--to', 'sqlite:plants.db'], { cwd });
    assert.deepEqual([code, stderr.split('\n')[0]], [2, 'plant-store: --from and --to must not be the same storage.']);
  });

  it('exits with 2 if a parameter is wrong', async (t) => {
    const cwd = await temporaryFolder(t);
    const { code, stderr } = await runCommand(['serve', '--storage', 'sqlite:plants.db?commitThread=yes'], { cwd });
    assert.equal(code, 2);
    assert.match(stderr, /commitThread in --storage must be true or false, not 'yes'\./);
    assert.deepEqual(await readdir(cwd), []);
  });
});

describe('storageSetting', () => {
  it('returns the flag, or else PLANT_STORE_STORAGE, or else DATABASE_URL, or else a file', (t) => {
    const { PLANT_STORE_STORAGE, DATABASE_URL } = process.env;
    t.after(() => {
      Object.assign(process.env, { PLANT_STORE_STORAGE: PLANT_STORE_STORAGE ?? '', DATABASE_URL: DATABASE_URL ?? '' });
    });
    Object.assign(process.env, { PLANT_STORE_STORAGE: 'memory', DATABASE_URL: 'postgres://localhost' });
    assert.deepEqual(storageSetting('sqlite:a.db'), { text: 'sqlite:a.db', source: '--storage' });
    assert.deepEqual(storageSetting(undefined), { text: 'memory', source: 'PLANT_STORE_STORAGE' });
    process.env['PLANT_STORE_STORAGE'] = '';
    assert.deepEqual(storageSetting(undefined), { text: 'postgres://localhost', source: 'DATABASE_URL' });
    process.env['DATABASE_URL'] = '';
    assert.deepEqual(storageSetting(undefined), { text: 'sqlite:plants.db', source: '--storage' });
    assert.throws(() => storageSetting(''), UsageError);
  });
});
