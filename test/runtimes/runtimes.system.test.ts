import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { skipWithout } from '../support/system-fault.ts';
import { runProgram, runSuccessfully } from '../support/run-program.ts';
import { root } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const skip = skipWithout('test/runtimes');
const packages = join(root, 'test/runtimes/node_modules');

it('the command line and SqliteStorage refuse Node.js 22.16.0, which can corrupt a file', { skip }, async (t) => {
  const cwd = await temporaryFolder(t);
  const openFile = `import { SqliteStorage } from '${root}dist/sqlite.js'; new SqliteStorage('plants.db');`;
  const main = join(root, 'dist/cli/main.js');
  for (const [args, exitCode, output] of [
    [[main, '--version'], 2, /^plant-store needs Node\.js 22\.22\.3 .*\bNode\.js 22\.16\.0\b.*\n$/],
    [['--input-type=module', '--eval', openFile], 1, /SQLite 3\.49\.1/],
  ] as const) {
    const { code, stderr } = await runProgram(join(packages, 'node/bin/node'), [...args], { cwd });
    assert.equal(code, exitCode);
    assert.match(stderr, output);
  }
  assert.deepEqual(await readdir(cwd), []);
});

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

it('Deno and Bun commit in a thread, and close the store', { skip }, async (t) => {
  for (const [name, ...args] of [['deno', 'run', '--allow-all'], ['bun']] as const) {
    const cwd = await temporaryFolder(t);
    await writeFile(join(cwd, 'program.mjs'), program);
    const printed = await runSuccessfully(join(packages, '.bin', name), [...args, 'program.mjs'], { cwd });
    assert.equal(printed, '1\nMoss\n', name);
  }
});
