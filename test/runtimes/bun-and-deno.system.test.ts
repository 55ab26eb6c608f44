import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { findProgram } from '../support/installed-program.ts';
import { runSuccessfully } from '../support/run-program.ts';
import { root } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const program = `
  import { PlantStore } from '${root}dist/index.js';
  import { SqliteStorage } from '${root}dist/sqlite.js';
  const store = new PlantStore({ storage: new SqliteStorage('plants.db', { commitThread: true }) });
  await store.createPlant('ada', { id: 1, name: 'Fern' });
  console.log((await store.listPlants('ada')).length);
  const pending = store.createPlant('ada', { id: 2, name: 'Moss' });
  await store.close();
  console.log((await pending).name);
`;

for (const [name, ...args] of [['deno', 'run', '--allow-all'], ['bun']] as const) {
  it(`${name} commits in a thread, and closes the store`, async (t) => {
    const runtime = findProgram(t, 'runtimes', `.bin/${name}`);
    if (runtime === undefined) return;
    const cwd = await temporaryFolder(t);
    await writeFile(join(cwd, 'program.mjs'), program);
    assert.equal(await runSuccessfully(runtime, [...args, 'program.mjs'], { cwd }), '1\nMoss\n');
  });
}
