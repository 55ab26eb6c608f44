import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findProgram } from '../support/installed-program.ts';
import { runProgram } from '../support/run-program.ts';
import { root } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const dist = join(root, 'dist');
const release =
  'needs Node.js 22.22.3 or a later 22, 24.15.0 or a later 24, or 26 or newer, and this is Node.js 22.16.0';
const needed = `${release} with SQLite 3.49.1, which can corrupt a file that several processes use: install a newer Node.js`;

const openFile = `import { SqliteStorage } from '${join(dist, 'sqlite.js')}';
  try { new SqliteStorage('plants.db'); } catch (error) { console.log(String(error)); }`;
const importEntry = `import('${join(dist, 'sqlite.js')}').catch((error) => console.log(String(error)));`;
const useMemory = `import { MemoryStorage, PlantStore } from '${join(dist, 'index.js')}';
  const store = new PlantStore({ storage: new MemoryStorage() });
  await store.createPlant('ada', { id: 1, name: 'Fern' });
  console.log((await store.listPlants('ada')).length);`;

const inClone = 'or in a clone of the repository run `npm ci` with install scripts allowed, which installs one';
const programs: readonly [behavior: string, args: string[], stdout: string, stderr?: string][] = [
  [
    'is rejected by the command line',
    [join(dist, 'tools/cli/main.js'), '--version'],
    '',
    `plant-store ${needed}, ${inClone}.\n`,
  ],
  ['is rejected by SqliteStorage', ['--input-type=module', '--eval', openFile], `Error: SqliteStorage ${needed}.\n`],
  [
    'is rejected by plant-store/sqlite if it has no node:sqlite, as Node.js 20 does',
    ['--no-experimental-sqlite', '--eval', importEntry],
    `Error: plant-store/sqlite ${release}: install a newer Node.js.\n`,
  ],
  ['runs a PlantStore over MemoryStorage', ['--input-type=module', '--eval', useMemory], '1\n'],
];

describe('Node.js 22.16.0, whose SQLite can corrupt a file', () => {
  for (const [behavior, args, stdout, stderr] of programs) {
    it(`${behavior}, and creates no file`, async (t) => {
      const node = findProgram(t, 'runtimes', 'node/bin/node');
      if (node === undefined) return;
      const cwd = await temporaryFolder(t);
      const finished = await runProgram(node, args, { cwd });
      assert.deepEqual([finished.code, finished.stdout], [stderr === undefined ? 0 : 1, stdout]);
      if (stderr !== undefined) assert.equal(finished.stderr, stderr);
      assert.deepEqual(readdirSync(cwd), []);
    });
  }
});
