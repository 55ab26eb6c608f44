import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { open, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { UsageError } from '../../src/cli/command.ts';
import type { Setting } from '../../src/cli/command.ts';
import { openStorage, storageSetting } from '../../src/cli/open-storage.ts';
import { MemoryStorage } from '../../src/index.ts';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { runCommand } from '../support/command-line.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

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

  it('creates the file of "sqlite:FILE" and its folders, for their owner only', async (t) => {
    const folder = join(await temporaryFolder(t), 'deep', 'etc');
    const file = join(folder, 'name: with spaces?.db');
    const storage = await openStorage(flag(`sqlite:${file}`));
    t.after(() => storage.close());
    assert.ok(storage instanceof SqliteStorage);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
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
