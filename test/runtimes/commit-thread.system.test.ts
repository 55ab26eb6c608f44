import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findProgram } from '../support/installed-program.ts';
import { runProgram } from '../support/run-program.ts';
import { root } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { runtimes } from './runtimes.ts';

const program = `
  import { PlantStore } from '${join(root, 'dist/index.js')}';
  import { SqliteStorage } from '${join(root, 'dist/sqlite.js')}';
  const store = new PlantStore({ storage: new SqliteStorage('plants.db', { commitThread: true }) });
  await store.createPlant('ada', { id: 1, name: 'Fern' });
  console.log((await store.listPlants('ada')).length);
  const pending = store.createPlant('ada', { id: 2, name: 'Moss' });
  await store.close();
  console.log((await pending).name);
`;

describe('SqliteStorage with a commit thread', () => {
  for (const { name, path, args } of runtimes) {
    it(`commits and closes under ${name}`, async (t) => {
      const runtime = findProgram(t, 'runtimes', path);
      if (runtime === undefined) return;
      const cwd = await temporaryFolder(t);
      await writeFile(join(cwd, 'program.mjs'), program);
      const env = { ...process.env, NODE_V8_COVERAGE: '' };
      assert.deepEqual(await runProgram(runtime, [...args, 'program.mjs'], { cwd, env }), {
        code: 0,
        stdout: '1\nMoss\n',
        stderr: '',
      });
    });
  }
});
