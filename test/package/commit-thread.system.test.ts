import assert from 'node:assert/strict';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findProgram } from '../support/installed-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { installPackage } from './installed.ts';
import { run } from './run-to-end.ts';

const program = `
import { PlantStore } from 'plant-store';
import { SqliteStorage } from 'plant-store/sqlite';

process.on('worker', () => console.log('a thread was started'));
const store = new PlantStore({ storage: new SqliteStorage('plants.db', { commitThread: true }) });
await store.createPlant('ada', { id: 7, name: 'Fern' });
console.log(await store.listPlants('ada'));
await store.close();
`;

const output = `a thread was started
[ { id: 7n, name: 'Fern' } ]
`;

/** The arguments with which docs/embedding.md bundles the file of the thread. */
const bundleArgs = [
  'program.mjs',
  'worker=./node_modules/plant-store/dist/storage/sqlite/commit-thread/worker.js',
  '--bundle',
  '--platform=node',
  '--format=esm',
  '--outdir=out',
];

describe('commit thread of the packed package', () => {
  it('runs in an installation', async (t) => {
    const folder = await installPackage(t);
    await writeFile(join(folder, 'program.mjs'), program);
    assert.equal(await run(folder, process.execPath, ['program.mjs']), output);
  });

  it('runs in a bundle by esbuild that includes the file of the thread', async (t) => {
    const esbuild = findProgram(t, 'package', 'esbuild/bin/esbuild');
    if (esbuild === undefined) return;
    const folder = await installPackage(t);
    await writeFile(join(folder, 'program.mjs'), program);
    await run(folder, process.execPath, [esbuild, ...bundleArgs]);
    const elsewhere = await temporaryFolder(t);
    await cp(join(folder, 'out'), elsewhere, { recursive: true });
    await writeFile(join(elsewhere, 'package.json'), '{"type":"module"}');
    assert.equal(await run(elsewhere, process.execPath, ['program.js']), output);
  });
});
