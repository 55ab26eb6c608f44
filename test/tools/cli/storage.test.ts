import assert from 'node:assert/strict';
import { open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { setting, UsageError } from '../../../src/tools/cli/command.ts';
import type { Setting } from '../../../src/tools/cli/command.ts';
import { openStorage, sqliteLocation, storagePlace } from '../../../src/tools/cli/storage.ts';
import { callCommand } from '../../support/call-command.ts';
import { runCommand } from '../../support/command-line.ts';
import { PostgresCluster } from '../../support/postgres.ts';
import { runProgram } from '../../support/run-program.ts';
import { main, tsx } from '../../support/sources.ts';
import { execute } from '../../support/sqlite-file.ts';
import { createAll, owned, readAll, rowOfPlants } from '../../support/stored-plants.ts';
import { hasProgram, mountSmallFolder } from '../../support/system-fault.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { startTokenServer } from '../../support/token-server.ts';
import { create } from '../../support/writes.ts';

const flag = (text: string): Setting => ({ text, source: '--storage' });

describe('openStorage', () => {
  it('creates the file of "sqlite:FILE", which storagePlace has called new, for its owner only', async (t) => {
    const file = join(await temporaryFolder(t), 'name: with spaces?.db');
    const setting = flag(`sqlite:${file}`);
    assert.equal(storagePlace(setting), `in the new file ${file}`);
    const storage = await openStorage(setting);
    t.after(() => storage.close());
    assert.ok(storage instanceof SqliteStorage);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal(storagePlace(setting), `in ${file}`);
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

  for (const file of ['plants.db', '/var/lib/plants.db', 'really?', 'name: with spaces?.db', '?.db']) {
    it(`recognizes parameters after sqlite:${file}`, () => {
      const parse = (text: string): unknown => sqliteLocation(flag(text));
      assert.deepEqual(parse(`sqlite:${file}`), { file: resolve(file), commitThread: false });
      assert.deepEqual(parse(`sqlite:${file}?commitThread=true`), { file: resolve(file), commitThread: true });
    });
  }
});

describe('setting', () => {
  it('returns the flag, or else PLANT_STORE_STORAGE, or else DATABASE_URL, or else a file', (t) => {
    const { env } = process;
    t.after(() => {
      process.env = env;
    });
    process.env = { PLANT_STORE_STORAGE: 'memory', DATABASE_URL: 'postgres://localhost' };
    assert.deepEqual(setting('storage', 'sqlite:a.db'), { text: 'sqlite:a.db', source: '--storage' });
    assert.deepEqual(setting('storage', undefined), { text: 'memory', source: 'PLANT_STORE_STORAGE' });
    process.env['PLANT_STORE_STORAGE'] = '';
    assert.deepEqual(setting('storage', undefined), { text: 'postgres://localhost', source: 'DATABASE_URL' });
    process.env['DATABASE_URL'] = '';
    assert.deepEqual(setting('storage', undefined), { text: 'sqlite:plants.db', source: '--storage' });
    assert.throws(() => setting('storage', ''), UsageError);
  });
});

describe('file of a command', () => {
  it('is named if the disk is full when it is opened', async (t) => {
    if (!hasProgram(t, 'prlimit')) return;
    const cwd = await temporaryFolder(t);
    const file = join(cwd, 'plants.db');
    await writeFile(file, '');
    // As on a full disk, SQLite cannot write the first page.
    const args = ['--fsize=1000', process.execPath, '--import', tsx, main, 'import', '--storage', 'sqlite:plants.db'];
    const { code, stderr } = await runProgram('prlimit', args, { cwd });
    const sentence = `plant-store: ${file} cannot be opened: the disk is full or failing. Free space, and try again.`;
    assert.deepEqual([code, stderr.slice(0, sentence.length)], [1, sentence]);
  });

  for (const parameters of ['', '?commitThread=true']) {
    it(`is named if the disk is full when it is written, with the parameters "${parameters}"`, async (t) => {
      const folder = await mountSmallFolder(t, 1);
      if (folder === undefined) {
        t.skip('this process may not mount');
        return;
      }
      const cwd = await temporaryFolder(t);
      await createAll(join(cwd, 'plants.db'), rowOfPlants('ada', 50_000));
      const file = join(folder, 'new.db');
      const args = ['copy', '--from', 'sqlite:plants.db', '--to', `sqlite:${file}${parameters}`];
      const { code, stderr } = await runCommand(args, { cwd });
      const sentence = `${file} cannot be written: the disk is full or failing. Free space, and try again.`;
      assert.deepEqual([code, stderr], [1, `plant-store: ${sentence} (database or disk is full)\n`]);
    });
  }

  it('is named if it is damaged when it is read', async (t) => {
    const cwd = await temporaryFolder(t);
    const file = join(cwd, 'plants.db');
    await createAll(file, rowOfPlants('ada', 20_000));
    // The schema and the first plants stay readable.
    const content = await readFile(file);
    await writeFile(file, content.fill(0xff, content.length / 2));
    const reason = 'is damaged. It was left as it is. (database disk image is malformed)';
    for (const args of [['export'], ['copy', '--from', 'sqlite:plants.db', '--to', 'sqlite:new.db']]) {
      const { code, stderr } = await callCommand(args, { cwd });
      const advice = 'Choose another storage, or restore a backup.';
      assert.deepEqual([code, stderr], [1, `plant-store: ${file} ${reason} ${advice}\n`]);
    }
    assert.deepEqual(await readFile(file), content);
  });

  it('is served, copied, exported and backed up with "?commitThread=true"', async (t) => {
    const storage = 'sqlite:plants.db?commitThread=true';
    const { cwd, server, create: post, call } = await startTokenServer(t, ['--storage', storage, '--log', 'off']);
    const ids = Array.from({ length: 20 }, (_, id) => id);
    for (const { status } of await Promise.all(ids.map((id) => post(id)))) assert.equal(status, 200);
    assert.equal(((await call('GET', '/plants')).json as unknown[]).length, 20);
    for (const args of [
      ['backup', '--storage', storage, 'backup.db'],
      ['copy', '--from', storage, '--to', 'sqlite:copy.db?commitThread=true'],
      ['export', '--storage', storage],
    ]) {
      const { code, stderr } = await runCommand(args, { cwd });
      assert.equal(code, 0, stderr);
    }
    assert.equal(await server.stop(), 0);
    const expected = ids.map((id) => owned('ada', { id: BigInt(id), name: `plant ${id}` }));
    for (const name of ['plants.db', 'backup.db', 'copy.db']) {
      assert.deepEqual(await readAll(join(cwd, name)), expected, name);
    }
    assert.ok(!(await readdir(cwd)).some((name) => name.includes('?')));
    const same = await callCommand(['copy', '--from', storage, '--to', 'sqlite:plants.db'], { cwd });
    assert.deepEqual(same.stderr, 'plant-store: --from and --to must not be the same storage.\n');
  });
});

describe('storage of a command that only reads', () => {
  it('is not created if it is missing', async (t) => {
    const cwd = await temporaryFolder(t);
    for (const args of [['backup', 'copy.db'], ['export'], ['copy', '--from=sqlite:plants.db', '--to=sqlite:b.db']]) {
      const stderr = `plant-store: There is no file ${join(cwd, 'plants.db')}. Check the path.\n`;
      assert.deepEqual(await callCommand(args, { cwd }), { code: 1, stdout: '', stderr });
    }
    assert.deepEqual(await readdir(cwd), []);
  });

  it('stays as it is if it is not a plant store or is damaged, and serve creates no token', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeFile(join(cwd, 'empty.db'), '');
    await writeFile(join(cwd, 'letter.txt'), 'Dear Ada, '.repeat(100));
    execute(join(cwd, 'no-tables.db'), 'VACUUM');
    await createAll(join(cwd, 'damaged.db'), []);
    // The schema is in the first page, after the header of the file.
    const file = await open(join(cwd, 'damaged.db'), 'r+');
    await file.write(Buffer.alloc(400, 0xff), 0, 400, 100);
    await file.close();
    const names = await readdir(cwd);
    for (const [name, reason, canServe] of [
      ['empty.db', 'is empty', true],
      ['no-tables.db', 'is empty', true],
      ['letter.txt', 'is not an SQLite database', false],
      ['damaged.db', 'is damaged', false],
    ] as const) {
      const before = await readFile(join(cwd, name));
      const commands = [`export --storage sqlite:${name}`, `copy --from sqlite:${name} --to sqlite:new.db`];
      commands.push(`backup --storage sqlite:${name} copy.db`);
      if (!canServe) commands.push(`serve --port 0 --storage sqlite:${name}`);
      for (const command of commands) {
        const { code, stdout, stderr } = await callCommand(command.split(' '), { cwd });
        assert.deepEqual([code, stdout], [1, ''], command);
        const [sentence, rest = ''] = stderr.split(' It was left as it is.');
        assert.equal(sentence, `plant-store: ${join(cwd, name)} ${reason}.`);
        assert.match(rest, /^( \([^\n]*\))? Choose another storage, or restore a backup\.\n$/);
      }
      assert.deepEqual(await readFile(join(cwd, name)), before);
    }
    assert.deepEqual(await readdir(cwd), names);
  });
});

describe('PostgreSQL table of a command', () => {
  let cluster: PostgresCluster;
  before(async () => {
    cluster = await PostgresCluster.start();
  });
  after(() => cluster.remove());

  /** Returns the names of the schemas and tables in a database, without those of PostgreSQL itself. */
  async function namesIn(url: string): Promise<unknown[]> {
    const rows = await cluster.queryAt(
      url,
      `SELECT nspname AS name FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$'
       UNION ALL SELECT tablename FROM pg_tables WHERE schemaname !~ '^pg_|^information_schema$'`,
    );
    return rows.map(({ name }) => name);
  }

  const noTable = 'Check the database, the schema and the table in the connection string.';
  const noSchema = 'Create the schema, or check its name in the connection string.';
  const missing: [parameters: string, reason: string][] = [
    ['?table=foo', `(There is no table "foo".) ${noTable}`],
    ['?schema=public&table=foo', `(There is no table "public"."foo".) ${noTable}`],
    ['?schema=garden', `(There is no schema "garden".) ${noSchema}`],
  ];
  for (const [parameters, reason] of missing) {
    it(`is not created by a command that reads, nor a schema by any command, if ${parameters} names nothing`, async (t) => {
      const cwd = await temporaryFolder(t);
      await createAll(join(cwd, 'a.db'), rowOfPlants('ada', 1));
      const url = await cluster.makeDatabase();
      const commands = [
        ['export', '--storage', url + parameters],
        ['copy', '--from', url + parameters, '--to', 'sqlite:new.db'],
      ];
      if (reason.includes('no schema')) commands.push(['copy', '--from', 'sqlite:a.db', '--to', url + parameters]);
      for (const args of commands) {
        const stderr = `plant-store: The storage has no table for plants. ${reason}\n`;
        assert.deepEqual(await callCommand(args, { cwd }), { code: 1, stdout: '', stderr });
      }
      assert.deepEqual(await namesIn(url), ['public']);
      assert.deepEqual(await readdir(cwd), ['a.db']);
    });
  }

  it('is created by a command that writes', async (t) => {
    const cwd = await temporaryFolder(t);
    const url = await cluster.makeDatabase();
    await createAll(join(cwd, 'a.db'), [owned('ada', { id: 1n, name: 'Fern' })]);
    const args = ['copy', '--from', 'sqlite:a.db', '--to', `${url}?schema=public&table=foo`];
    assert.equal((await callCommand(args, { cwd })).code, 0);
    assert.deepEqual(await cluster.queryAt(url, 'SELECT name FROM public.foo'), [{ name: 'Fern' }]);
  });
});
