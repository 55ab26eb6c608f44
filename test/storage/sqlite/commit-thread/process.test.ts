import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { evalArgs, plainEnvironment, runProgram, runSuccessfully } from '../../../support/run-program.ts';
import { root, sourceUrl } from '../../../support/sources.ts';
import { execute, slowSql } from '../../../support/sqlite-file.ts';
import { createAll } from '../../../support/stored-plants.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

it('commit thread › keeps the process running only during a commit or close, and warns at most once', async (t) => {
  const cwd = await temporaryFolder(t);
  const path = join(cwd, 'plants.db');
  await createAll(path, []);
  execute(path, `CREATE TRIGGER slow BEFORE INSERT ON plants WHEN NEW.id = 2 BEGIN ${slowSql}; END`);
  const text = `
    import { SqliteStorage } from '${sourceUrl('storage/sqlite/sqlite-storage.ts')}';
    const storage = new SqliteStorage('plants.db', { commitThread: true });
    const create = (id) => storage.commit([{ kind: 'create', user: 'ada', plant: { id, name: 'Fern' } }]);
    void create(1n).then((outcomes) => console.log('first', outcomes[0]));
    void create(2n).then((outcomes) => console.log('second', outcomes[0]));
    process.once('beforeExit', () => void storage.close().then(() => console.log('closed')));`;
  const { code, stdout, stderr } = await runProgram(process.execPath, evalArgs(text), { cwd, timeoutMs: 120_000 });
  assert.deepEqual([code, stdout], [0, 'first true\nsecond true\nclosed\n'], stderr);
  assert.ok(stderr.split('SQLite is an experimental feature').length <= 2, stderr);
});

it('commit thread › does not run the modules that the process preloads, so a preload can open a store', async (t) => {
  const cwd = await temporaryFolder(t);
  const code = `
    import { SqliteStorage } from '${sourceUrl('storage/sqlite/sqlite-storage.ts')}';
    const storage = new SqliteStorage('plants.db', { commitThread: true });
    console.log(await storage.commit([{ kind: 'create', user: 'ada', plant: { id: BigInt(process.pid), name: '' } }]));
    await storage.close();`;
  await writeFile(join(cwd, 'preload.mjs'), code);
  const preload = '--import=./preload.mjs';
  const programs = [runSuccessfully(process.execPath, [preload, '--eval', '0'], { cwd })];
  const env = { ...plainEnvironment(), NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} ${preload}` };
  programs.push(runSuccessfully(process.execPath, ['--eval', '0'], { cwd, env }));
  assert.deepEqual(await Promise.all(programs), ['[ true ]\n', '[ true ]\n']);
});

it('SqliteStorage needs permission only for its code and folder, and for a commit thread', async (t) => {
  const cwd = await temporaryFolder(t);
  const code = `
    import { readdirSync } from 'node:fs';
    import { SqliteStorage } from '${sourceUrl('storage/sqlite/sqlite-storage.ts')}';
    try { new SqliteStorage('plants.db', { commitThread: true }); } catch (error) { console.log(error.code); }
    const storage = new SqliteStorage('plants.db');
    console.log(await storage.commit([{ kind: 'create', user: 'ada', plant: { id: 1n, name: 'Fern' } }]));
    await storage.close();
    console.log(readdirSync('.').sort().join());`;
  await writeFile(join(cwd, 'program.mjs'), code);
  const folders = [`--allow-fs-read=${root}`, `--allow-fs-read=${cwd}`, `--allow-fs-write=${cwd}`];
  const stdout = await runSuccessfully(process.execPath, ['--permission', ...folders, 'program.mjs'], { cwd });
  // The constructor that threw an error has closed the file. Otherwise, its WAL would still exist.
  assert.equal(stdout, 'ERR_ACCESS_DENIED\n[ true ]\nplants.db,program.mjs\n');
});
