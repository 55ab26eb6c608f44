import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runProgram } from '../../../support/run-program.ts';
import type { Finished } from '../../../support/run-program.ts';
import { sourceUrl, tsx } from '../../../support/sources.ts';
import { slowSql } from '../../../support/sqlite-file.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import type { HasAfter } from '../../../support/temporary-folder.ts';

describe('process with a commit thread', () => {
  /** Runs a program that has opened `storage`, until it ends. */
  async function run(t: HasAfter, code: string): Promise<Finished> {
    const folder = await temporaryFolder(t);
    const program = join(folder, 'program.mjs');
    const text = `
      import { DatabaseSync } from 'node:sqlite';
      import { SqliteStorage } from '${sourceUrl('storage/sqlite/sqlite-storage.ts')}';
      const storage = new SqliteStorage('plants.db', { commitThread: true });
      const create = (id) => storage.commit([{ kind: 'create', user: 'ada', plant: { id, name: 'Fern' } }]);
      ${code}`;
    await writeFile(program, text);
    const args = ['--import', tsx, program];
    const finished = await runProgram(process.execPath, args, { cwd: folder, timeoutMs: 20_000 });
    assert.equal(finished.code, 0, finished.stderr);
    return finished;
  }

  it('ends when the thread is idle', async (t) => {
    const code = `
      await create(1n);
      await create(2n);
      console.log('done');`;
    assert.equal((await run(t, code)).stdout, 'done\n');
  });

  it('does not end during a commit', async (t) => {
    const code = `
      const database = new DatabaseSync('plants.db');
      database.exec('CREATE TRIGGER slow BEFORE INSERT ON plants WHEN NEW.id = 2 BEGIN ${slowSql}; END');
      database.close();
      void create(1n).then((outcomes) => console.log('first', outcomes[0]));
      void create(2n).then((outcomes) => console.log('second', outcomes[0]));`;
    assert.equal((await run(t, code)).stdout, 'first true\nsecond true\n');
  });

  it('does not end during a close', async (t) => {
    const code = `
      await create(1n);
      void storage.close().then(() => console.log('closed'));`;
    assert.equal((await run(t, code)).stdout, 'closed\n');
  });

  it('warns at most once that node:sqlite is experimental, as Node.js 22 does', async (t) => {
    const { stderr } = await run(t, 'await create(1n);');
    assert.ok(stderr.split('SQLite is an experimental feature').length <= 2, stderr);
  });
});
