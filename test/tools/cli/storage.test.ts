import assert from 'node:assert/strict';
import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { setting, UsageError } from '../../../src/tools/cli/command.ts';
import type { Setting } from '../../../src/tools/cli/command.ts';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { openStorage, sqliteLocation } from '../../../src/tools/cli/storage.ts';
import { callCommand } from '../../support/call-command.ts';
import { runCommand } from '../../support/command-line.ts';
import { plainEnvironment, runProgram } from '../../support/run-program.ts';
import { main, tsx } from '../../support/sources.ts';
import { execute } from '../../support/sqlite-file.ts';
import { createAll, owned, readAll, rowOfPlants } from '../../support/stored-plants.ts';
import { makeReadOnly, mountSmallFolder } from '../../support/system-fault.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { startTokenServer } from '../../support/token-server.ts';
import { create } from '../../support/writes.ts';

const flag = (text: string): Setting => ({ text, source: '--storage' });

describe('openStorage', () => {
  it('commits in a worker thread only for "sqlite:FILE?commitThread=true"', async (t) => {
    const file = join(await temporaryFolder(t), 'plants.db');
    let threads = 0;
    const count = (): void => {
      threads++;
    };
    process.on('worker', count);
    t.after(() => process.off('worker', count));
    for (const [parameters, expected] of [
      ['', 0],
      ['?commitThread=false', 0],
      ['?commitThread=true', 1],
    ] as const) {
      const storage = await openStorage(flag(`sqlite:${file}${parameters}`));
      await storage.commit([create(1)]);
      await storage.close();
      assert.equal(threads, expected, parameters);
    }
  });

  it('recognizes parameters after any file name', () => {
    for (const file of ['plants.db', '/var/lib/plants.db', 'really?', 'name: with spaces?.db', '?.db']) {
      for (const [parameters, commitThread] of [
        ['', false],
        ['?commitThread=true', true],
      ] as const) {
        const location = sqliteLocation(flag(`sqlite:${file}${parameters}`));
        assert.deepEqual(location, { file: resolve(file), commitThread });
      }
    }
  });
});

describe('setting', () => {
  it('returns the first that is set: the flag, PLANT_STORE_STORAGE, DATABASE_URL or a default file', (t) => {
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

/** Commands, each with the beginning of the message. `$full` stands for a folder on a full disk. */
const onFullDisk: [command: string, message: string][] = [
  ...['', '?commitThread=true'].map((parameters): [string, string] => [
    `copy --from sqlite:plants.db --to "sqlite:$full/new.db${parameters}"`,
    '$full/new.db cannot be written: the disk is full or failing. Free space, and try again. (database or disk is full)',
  ]),
  [
    'backup "$full/copy.db"',
    '$full/copy.db cannot be written: the disk is full or failing. Free space, and try again. (database or disk is full)',
  ],
  [
    'export > "$full/plants.ndjson"',
    'Not all plants were written to standard output: the disk is full. Free space, and try again. (ENOSPC: no space left on device, write)',
  ],
];

/** The same with a limit on the size of files, in blocks of 512 bytes. Writes beyond the limit fail. */
const onFailingDisk: [command: string, message: string, blocks: number][] = [
  [
    'import --storage sqlite:empty.db',
    '$cwd/empty.db cannot be opened: the disk is full or failing. Free space, and try again.',
    2,
  ],
  [
    'backup copy.db',
    '$cwd/plants.db cannot be copied to $cwd/copy.db: a disk is full or failing. Free space, and try again. (disk I/O error)',
    1000,
  ],
];

describe('plant-store, if the disk is full or failing,', { concurrency: 2 }, () => {
  for (const [command, message, blocks] of [...onFullDisk, ...onFailingDisk]) {
    it(`prints the file name and what to do: ${command}`, async (t) => {
      const full = blocks === undefined ? await mountSmallFolder(t, 1) : '';
      if (full === undefined) {
        t.skip('this process may not mount');
        return;
      }
      const cwd = await temporaryFolder(t);
      await createAll(join(cwd, 'plants.db'), rowOfPlants('ada', 50_000));
      await writeFile(join(cwd, 'empty.db'), '');
      const script = `ulimit -f ${blocks ?? 'unlimited'}; exec '${process.execPath}' --import '${tsx}' '${main}' ${command}`;
      // Coverage is not recorded, because the limit would also apply to the file with the coverage data.
      const env = { ...plainEnvironment(), full, ...(blocks !== undefined && { NODE_V8_COVERAGE: '' }) };
      const { code, stderr } = await runProgram('sh', ['-c', script], { cwd, env });
      assert.equal(code, 1);
      const beginning = `plant-store: ${message.replaceAll('$full', full).replaceAll('$cwd', cwd)}`;
      assert.equal(stderr.slice(0, beginning.length), beginning);
      assert.equal(stderr.split('\n').length, 2);
      const files = [...(await readdir(cwd)), ...(full === '' ? [] : await readdir(full))];
      assert.ok(!files.some((name) => name.startsWith('copy.db')), files.join(', '));
    });
  }

  it('prints the name of a file in a read-only folder', async (t) => {
    const cwd = await temporaryFolder(t);
    const file = join(cwd, 'plants.db');
    await createAll(file, []);
    const undo = await makeReadOnly(cwd);
    if (undo === undefined) {
      t.skip('this process may not mount');
      return;
    }
    const sentence = `${file} cannot be opened: it and its folder must be readable and writable.`;
    const stderr = `plant-store: ${sentence} (unable to open database file)\n`;
    const args = ['import', '--storage', `sqlite:${file}`];
    assert.deepEqual(await callCommand(args, { cwd: '/' }).finally(undo), { code: 1, stdout: '', stderr });
  });
});

describe('SQLite file of a command', () => {
  it('is named in the message but not changed if part of the file is damaged', async (t) => {
    const cwd = await temporaryFolder(t);
    const file = join(cwd, 'plants.db');
    await createAll(file, rowOfPlants('ada', 20_000));
    const content = await readFile(file);
    const half = content.length / 2;
    // The schema and the first plants stay readable. First, the test damages one page that only a backup reads.
    for (const [end, commands, cause] of [
      [half + 4096, ['backup copy.db'], ''],
      [
        content.length,
        ['backup copy.db', 'export', 'copy --from sqlite:plants.db --to sqlite:new.db'],
        '(database disk image is malformed) ',
      ],
    ] as const) {
      await writeFile(file, content.fill(0xff, half, end));
      for (const command of commands) {
        const { code, stderr } = await callCommand(command.split(' '), { cwd });
        const sentence = `${file} is damaged. ${cause}Choose another storage, or restore a backup.`;
        assert.deepEqual([code, stderr], [1, `plant-store: ${sentence}\n`]);
      }
      assert.deepEqual(await readFile(file), content);
      assert.ok(!(await readdir(cwd)).some((name) => name.startsWith('copy')));
    }
  });

  it('stays unchanged if it is damaged and backed up', async (t) => {
    const cwd = await temporaryFolder(t);
    const file = join(cwd, 'plants.db');
    await createAll(file, rowOfPlants('ada', 20_000));
    const content = await readFile(file);
    const half = content.length / 2;
    await writeFile(file, content.fill(0xff, half, half + 4096));
    const server = new SqliteStorage(file);
    t.after(() => server.close());
    await server.commit([create(-1)]);
    assert.deepEqual(await readFile(file), content);
    const stderr = `plant-store: ${file} is damaged. Choose another storage, or restore a backup.\n`;
    assert.deepEqual(await callCommand(['backup', 'copy.db'], { cwd }), { code: 1, stdout: '', stderr });
    assert.deepEqual(await readFile(file), content);
  });

  it('can be served, copied, exported and backed up at the same time with "?commitThread=true"', async (t) => {
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
  });

  it('is not created by a command that only reads', async (t) => {
    const cwd = await temporaryFolder(t);
    for (const args of [['backup', 'copy.db'], ['export'], ['copy', '--from=sqlite:plants.db', '--to=sqlite:b.db']]) {
      const stderr = `plant-store: There is no file ${join(cwd, 'plants.db')}. Check the path.\n`;
      assert.deepEqual(await callCommand(args, { cwd }), { code: 1, stdout: '', stderr });
    }
    assert.deepEqual(await readdir(cwd), []);
  });

  it('is not changed, and serve creates no token, if the file is damaged or is not a plant store', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeFile(join(cwd, 'empty.db'), '');
    await writeFile(join(cwd, 'letter.txt'), 'Dear Ada, '.repeat(100));
    execute(join(cwd, 'no-tables.db'), 'VACUUM');
    await createAll(join(cwd, 'damaged.db'), []);
    // The schema is in the first page, after the file header.
    const file = await open(join(cwd, 'damaged.db'), 'r+');
    await file.write(Buffer.alloc(400, 0xff), 0, 400, 100);
    await file.close();
    const names = await readdir(cwd);
    for (const [name, reason, canServe] of [
      ['empty.db', 'is empty. It was left as it is.', true],
      ['no-tables.db', 'is empty. It was left as it is.', true],
      ['letter.txt', 'is not an SQLite database. It was left as it is.', false],
      ['damaged.db', 'is damaged.', false],
    ] as const) {
      const before = await readFile(join(cwd, name));
      const commands = [`export --storage sqlite:${name}`, `copy --from sqlite:${name} --to sqlite:new.db`];
      commands.push(`backup --storage sqlite:${name} copy.db`);
      if (!canServe) commands.push(`serve --port 0 --storage sqlite:${name}`);
      for (const command of commands) {
        const { code, stdout, stderr } = await callCommand(command.split(' '), { cwd });
        assert.deepEqual([code, stdout], [1, ''], command);
        const beginning = `plant-store: ${join(cwd, name)} ${reason}`;
        assert.equal(stderr.slice(0, beginning.length), beginning);
        const rest = stderr.slice(beginning.length);
        assert.match(rest, /^( \([^\n]*\))? Choose another storage, or restore a backup\.\n$/);
      }
      assert.deepEqual(await readFile(join(cwd, name)), before);
    }
    assert.deepEqual(await readdir(cwd), names);
  });
});
