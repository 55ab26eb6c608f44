import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findProgram } from '../support/installed-program.ts';
import { runProgram } from '../support/run-program.ts';
import { root } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const dist = join(root, 'dist');
const openFile = `import { SqliteStorage } from '${join(dist, 'sqlite.js')}'; new SqliteStorage('plants.db');`;
const useMemory = `import { MemoryStorage, PlantStore } from '${join(dist, 'index.js')}';
  const store = new PlantStore({ storage: new MemoryStorage() });
  await store.createPlant('ada', { id: 1, name: 'Fern' });
  console.log((await store.listPlants('ada')).length);`;

const programs: readonly (readonly [behavior: string, args: readonly string[], code: number, output: RegExp])[] = [
  ['is rejected by the command line', [join(dist, 'tools/cli/main.js'), '--version'], 1, /Node\.js 22\.16\.0/],
  ['is rejected by SqliteStorage', ['--input-type=module', '--eval', openFile], 1, /SQLite 3\.49\.1/],
  ['runs a PlantStore over MemoryStorage', ['--input-type=module', '--eval', useMemory], 0, /^1\n$/],
];

describe('Node.js 22.16.0, whose SQLite can corrupt a file', () => {
  for (const [behavior, args, code, output] of programs) {
    it(`${behavior}, and creates no file`, async (t) => {
      const node = findProgram(t, 'runtimes', 'node/bin/node');
      if (node === undefined) return;
      const cwd = await temporaryFolder(t);
      const finished = await runProgram(node, [...args], { cwd });
      assert.equal(finished.code, code);
      assert.match(finished.stdout + finished.stderr, output);
      assert.deepEqual(readdirSync(cwd), []);
    });
  }
});
