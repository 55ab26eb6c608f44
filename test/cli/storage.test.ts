import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openStorage, parseStorage } from '../../src/cli/storage.ts';
import { callCommand } from '../support/call-command.ts';
import { plainEnvironment, runProgram } from '../support/run-program.ts';
import { main, tsx } from '../support/sources.ts';
import { execute } from '../support/sqlite-file.ts';
import { createAll, readAll, rowOfPlants } from '../support/stored-plants.ts';
import { mountSmallFolder } from '../support/system-fault.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTokenServer } from '../support/token-server.ts';

it('plant-store commits in a worker thread only for "sqlite:FILE?commitThread=true"', async (t) => {
  const file = join(await temporaryFolder(t), 'plants.db');
  let threads = 0;
  const count = (): void => {
    threads++;
  };
  process.on('worker', count);
  t.after(() => process.off('worker', count));
  for (const [thread, expected] of Object.entries({ '': 0, '?commitThread=false': 0, '?commitThread=true': 1 })) {
    const location = parseStorage({ text: `sqlite:${file}${thread}`, source: '--storage' }, ['sqlite']);
    await (await openStorage(location)).close();
    assert.equal(threads, expected, thread);
  }
});

/** Commands, each with the file in its message. `$full` stands for a folder on a full disk. */
const onFullDisk: [command: string, file: string][] = [
  ['copy --from sqlite:plants.db --to "sqlite:$full/new.db"', '$full/new.db'],
  ['backup "$full/copy.db"', '$full/copy.db'],
  ['restore plants.db --storage "sqlite:$full/copy.db"', '$full/copy.db'],
  ['export > "$full/plants.ndjson"', 'ENOSPC'],
];
describe('plant-store, if the disk is full or failing,', { concurrency: 2 }, () => {
  for (const [command, file] of onFullDisk) {
    it(`exits with 1, names the file, and leaves no part of a copy behind: ${command}`, async (t) => {
      const full = await mountSmallFolder(t, 1);
      if (full === undefined) return;
      const cwd = await temporaryFolder(t);
      await createAll(join(cwd, 'plants.db'), rowOfPlants('ada', 50_000));
      const script = `exec '${process.execPath}' --import '${tsx}' '${main}' ${command}`;
      const { code, stderr } = await runProgram('sh', ['-c', script], { cwd, env: { ...plainEnvironment(), full } });
      assert.equal(code, 1);
      assert.match(stderr, /^plant-store: [^\n]*(full|ENOSPC)[^\n]*\n$/);
      assert.ok(stderr.includes(file.replace('$full', full)), stderr);
      assert.ok(!(await readdir(full)).some((name) => name.startsWith('copy.db')));
    });
  }

  it('names a file on a read-only file system, and can read it', async (t) => {
    const cwd = await mountSmallFolder(t, 1);
    if (cwd === undefined) return;
    await createAll(join(cwd, 'plants.db'), rowOfPlants('ada', 1));
    execFileSync('mount', ['-o', 'remount,ro', cwd]);
    const imported = await callCommand(['import'], { cwd });
    assert.equal(imported.code, 1);
    assert.ok(imported.stderr.includes(join(cwd, 'plants.db')), imported.stderr);
    const exported = await callCommand(['export'], { cwd });
    assert.equal(exported.code, 0, exported.stderr);
    assert.match(exported.stdout, /"user":"ada"/);
  });
});

describe('SQLite file of a command', () => {
  const reading = ['backup copy.db', 'export', 'copy --from sqlite:plants.db --to sqlite:new.db'];

  it('is named in the message but not changed if part of the file is damaged', async (t) => {
    const cwd = await temporaryFolder(t);
    const file = join(cwd, 'plants.db');
    await createAll(file, rowOfPlants('ada', 20_000));
    const content = await readFile(file);
    const half = content.length / 2;
    // The schema and the first plants stay readable. First, the test damages one page that only a backup reads.
    for (const [end, commands] of [
      [half + 4096, ['backup copy.db', 'restore plants.db --storage sqlite:other.db']],
      [content.length, reading],
    ] as const) {
      await writeFile(file, content.fill(0xff, half, end));
      for (const command of commands) {
        const { code, stderr } = await callCommand(command.split(' '), { cwd });
        assert.equal(code, 1);
        assert.ok(stderr.includes(file) && /damaged|malformed/.test(stderr), stderr);
      }
      assert.deepEqual(await readFile(file), content);
      assert.ok(!(await readdir(cwd)).some((name) => /^(?:copy|other)/.test(name)));
    }
  });

  it('is not created by a command that only reads', async (t) => {
    const cwd = await temporaryFolder(t);
    for (const command of reading) {
      const { code, stderr } = await callCommand(command.split(' '), { cwd });
      assert.equal(code, 1);
      assert.ok(stderr.includes('There is no file'), stderr);
    }
    assert.deepEqual(await readdir(cwd), []);
  });

  it('is not changed by a command that only reads, even if a killed server left a log behind', async (t) => {
    const { cwd, server, create: post } = await startTokenServer(t, []);
    await post(1);
    await server.stop('SIGKILL');
    const names = ['plants.db', 'plants.db-wal'];
    const contents = (): Promise<Buffer[]> => Promise.all(names.map((name) => readFile(join(cwd, name))));
    const before = await contents();
    for (const command of reading) assert.equal((await callCommand(command.split(' '), { cwd })).code, 0, command);
    assert.deepEqual(await contents(), before);
    for (const name of ['copy.db', 'new.db']) assert.equal((await readAll(join(cwd, name))).length, 1, name);
  });

  it('is not changed, and serve creates no token, if the file is not a plant store', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeFile(join(cwd, 'empty.db'), '');
    await writeFile(join(cwd, 'letter.txt'), 'Dear Ada, '.repeat(100));
    execute(join(cwd, 'other.db'), 'CREATE TABLE plants (x); PRAGMA user_version = 7');
    const names = await readdir(cwd);
    for (const [name, reason, canServe] of [
      ['empty.db', 'is empty', true],
      ['letter.txt', 'is not an SQLite database', false],
      ['other.db', 'is an SQLite database of another application', false],
    ] as const) {
      const before = await readFile(join(cwd, name));
      const commands = [`export --storage sqlite:${name}`, `copy --from sqlite:${name} --to sqlite:new.db`];
      commands.push(`backup --storage sqlite:${name} copy.db`, `restore ${name} --storage sqlite:new.db`);
      if (!canServe) commands.push(`serve --port 0 --storage sqlite:${name}`);
      for (const command of commands) {
        const { code, stdout, stderr } = await callCommand(command.split(' '), { cwd });
        assert.deepEqual([code, stdout], [1, ''], command);
        assert.match(stderr, /^plant-store: [^\n]*\n$/);
        assert.ok(stderr.includes(`${join(cwd, name)} ${reason}`), stderr);
      }
      assert.deepEqual(await readFile(join(cwd, name)), before);
    }
    assert.deepEqual(await readdir(cwd), names);
  });
});
