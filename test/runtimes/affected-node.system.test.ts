import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runProgram, runSuccessfully } from '../support/run-program.ts';
import { root } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { findProgram } from '../support/installed-program.ts';

const affectedNode = 'node/bin/node';
const dist = join(root, 'dist');
const release =
  'needs Node.js 22.22.3 or a later 22, 24.15.0 or a later 24, or 26 or newer, and this is Node.js 22.16.0';
const needed = `${release} with SQLite 3.49.1, which can corrupt a file that several processes use: install a newer Node.js`;
const neededWithoutSqlite = `${release}: install a newer Node.js`;

describe('Node.js 22.16.0, whose SQLite can corrupt a file', () => {
  it('is rejected by the command line', async (t) => {
    const node = findProgram(t, 'runtimes', affectedNode);
    if (node === undefined) return;
    assert.deepEqual(await runProgram(node, [join(dist, 'tools/cli/main.js'), '--version']), {
      code: 1,
      stdout: '',
      stderr: `plant-store ${needed}, or in a clone of the repository run \`npm ci\` with install scripts allowed, which installs one.\n`,
    });
  });

  it('is rejected by SqliteStorage, which creates no file', async (t) => {
    const node = findProgram(t, 'runtimes', affectedNode);
    if (node === undefined) return;
    const cwd = await temporaryFolder(t);
    const code = `import { SqliteStorage } from '${join(dist, 'sqlite.js')}';
      try { new SqliteStorage('plants.db'); } catch (error) { console.log(String(error)); }`;
    const stdout = await runSuccessfully(node, ['--input-type=module', '--eval', code], { cwd });
    assert.equal(stdout, `Error: SqliteStorage ${needed}.\n`);
    assert.ok(!existsSync(join(cwd, 'plants.db')));
  });

  it('is rejected by plant-store/sqlite if it has no node:sqlite, as Node.js 20 does', async (t) => {
    const node = findProgram(t, 'runtimes', affectedNode);
    if (node === undefined) return;
    const code = `import('${join(dist, 'sqlite.js')}').catch((error) => console.log(String(error)));`;
    const stdout = await runSuccessfully(node, ['--no-experimental-sqlite', '--eval', code]);
    assert.equal(stdout, `Error: plant-store/sqlite ${neededWithoutSqlite}.\n`);
  });

  it('runs a PlantStore over MemoryStorage', async (t) => {
    const node = findProgram(t, 'runtimes', affectedNode);
    if (node === undefined) return;
    const code = `import { MemoryStorage, PlantStore } from '${join(dist, 'index.js')}';
      const store = new PlantStore({ storage: new MemoryStorage() });
      await store.createPlant('ada', { id: 1, name: 'Fern' });
      console.log((await store.listPlants('ada')).length);`;
    const stdout = await runSuccessfully(node, ['--input-type=module', '--eval', code]);
    assert.equal(stdout, '1\n');
  });
});
