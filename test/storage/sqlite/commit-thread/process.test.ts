import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { evalArgs, runProgram, runSuccessfully } from '../../../support/run-program.ts';
import { root, sourceUrl, tsx } from '../../../support/sources.ts';
import { execute, slowSql } from '../../../support/sqlite-file.ts';
import { createAll } from '../../../support/stored-plants.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

/** The programs and their output. Each program can call `create` with an id. The creation of plant 2 is slow. */
const programs: readonly [title: string, code: string, output: string][] = [
  [
    'does not end during a commit, and ends when the thread is idle',
    `void create(1n).then((outcomes) => console.log('first', outcomes[0]));
     void create(2n).then((outcomes) => console.log('second', outcomes[0]));`,
    'first true\nsecond true\n',
  ],
  [
    'does not end during a close',
    `await create(1n);
     void storage.close().then(() => console.log('closed'));`,
    'closed\n',
  ],
];

describe('process with a commit thread', () => {
  for (const [title, code, output] of programs) {
    it(`${title}, and warns at most once that node:sqlite is experimental`, async (t) => {
      const cwd = await temporaryFolder(t);
      await createAll(join(cwd, 'plants.db'), []);
      const slow = `CREATE TRIGGER slow BEFORE INSERT ON plants WHEN NEW.id = 2 BEGIN ${slowSql}; END`;
      execute(join(cwd, 'plants.db'), slow);
      // Threads have the arguments of the process, and do not accept those of `evalArgs`.
      const text = `
        import { SqliteStorage } from '${sourceUrl('storage/sqlite/sqlite-storage.ts')}';
        const storage = new SqliteStorage('plants.db', { commitThread: true });
        const create = (id) => storage.commit([{ kind: 'create', user: 'ada', plant: { id, name: 'Fern' } }]);
        ${code}`;
      await writeFile(join(cwd, 'program.mjs'), text);
      const args = ['--import', tsx, 'program.mjs'];
      const finished = await runProgram(process.execPath, args, { cwd, timeoutMs: 20_000 });
      assert.deepEqual([finished.code, finished.stdout], [0, output], finished.stderr);
      assert.ok(finished.stderr.split('SQLite is an experimental feature').length <= 2, finished.stderr);
    });
  }

  it('throws from the constructor of SqliteStorage if threads are not permitted, and closes the file', async (t) => {
    const cwd = await temporaryFolder(t);
    const code = `
      import { SqliteStorage } from '${sourceUrl('storage/sqlite/sqlite-storage.ts')}';
      try { new SqliteStorage('plants.db', { commitThread: true }); } catch (error) { console.log(error.code); }`;
    const permissions = ['--permission', '--allow-fs-read=*', '--allow-fs-write=*', '--allow-child-process'];
    const stdout = await runSuccessfully(process.execPath, [...permissions, ...evalArgs(code)], { cwd });
    assert.equal(stdout, 'ERR_ACCESS_DENIED\n');
    assert.deepEqual(await readdir(cwd), ['plants.db']);
  });
});

it('SqliteStorage needs permission only to read its code, and to read and write the folder of the file', async (t) => {
  const cwd = await temporaryFolder(t);
  const code = `
    import { SqliteStorage } from '${sourceUrl('storage/sqlite/sqlite-storage.ts')}';
    const storage = new SqliteStorage('plants.db');
    console.log(await storage.commit([{ kind: 'create', user: 'ada', plant: { id: 1n, name: 'Fern' } }]));
    await storage.close();`;
  await writeFile(join(cwd, 'program.mjs'), code);
  const folders = [`--allow-fs-read=${root}`, `--allow-fs-read=${cwd}`, `--allow-fs-write=${cwd}`];
  const stdout = await runSuccessfully(process.execPath, ['--permission', ...folders, 'program.mjs'], { cwd });
  assert.equal(stdout, '[ true ]\n');
});
