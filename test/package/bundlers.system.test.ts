import assert from 'node:assert/strict';
import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { skipWithout } from '../support/system-fault.ts';
import { root } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';
import { run } from './pack.ts';

/** Prints the stored plants, or the error of the constructor. */
const program = `
import { PlantStore } from 'plant-store';
import { SqliteStorage } from 'plant-store/sqlite';

async function main() {
  const store = new PlantStore({ storage: new SqliteStorage('plants.db', { commitThread: true }) });
  await store.createPlant('ada', { id: 1, name: 'Fern' });
  console.log(await store.listPlants('ada'));
  await store.close();
}
main().catch(({ message }) => console.log(message));
`;

const stored = "[ { id: 1n, name: 'Fern' } ]\n";
const missing = /^The commit thread is missing/;

/** Calls webpack, whose path is the argument. The command line of webpack is another package. */
const webpack = `
const { default: webpack } = await import(process.argv[2]);
const output = { path: import.meta.dirname + '/out', filename: 'program.mjs', module: true };
const experiments = { outputModule: true };
webpack({ entry: './program.mjs', target: 'node', mode: 'production', output, experiments }, (error, stats) => {
  if (error ?? stats.hasErrors()) throw new Error(stats?.toString(), { cause: error });
});
`;

const esbuild = 'esbuild/bin/esbuild';
const flags = ['program.mjs', '--bundle', '--platform=node', '--outdir=out'];

/** The entry point in docs/embedding.md. */
const worker = 'worker=./node_modules/plant-store/dist/storage/sqlite/commit-thread/worker.js';

/** Bundles the program with webpack or esbuild. Returns a folder that contains only the bundle. */
async function bundle(t: HasAfter, bundler: string, ...args: string[]): Promise<string> {
  const path = join(root, 'test/package/node_modules', bundler);
  const folder = await temporaryFolder(t);
  const copied = join(folder, 'node_modules/plant-store');
  for (const name of ['dist', 'package.json']) await cp(join(root, name), join(copied, name), { recursive: true });
  await writeFile(join(folder, 'program.mjs'), program);
  await writeFile(join(folder, 'webpack.mjs'), webpack);
  await run(folder, process.execPath, bundler === esbuild ? [path, ...flags, ...args] : ['webpack.mjs', path]);
  await rm(join(folder, 'node_modules'), { recursive: true });
  return join(folder, 'out');
}

const skip = skipWithout('test/package');

describe('SqliteStorage with commitThread in a bundle', { concurrency: 2, skip }, () => {
  it('a bundle starts the commit thread from a second entry point, even if it is split and minified', async (t) => {
    for (const more of [[], ['--splitting', '--minify']]) {
      const folder = await bundle(t, esbuild, worker, '--format=esm', ...more);
      assert.equal(await run(folder, process.execPath, ['program.js']), stored);
    }
  });

  it('a bundle throws an error if it is CommonJS or a single executable', async (t) => {
    const folder = await bundle(t, esbuild, '--format=cjs', '--out-extension:.js=.cjs');
    assert.match(await run(folder, process.execPath, ['program.cjs']), missing);
    await writeFile(join(folder, 'sea.json'), '{"main":"program.cjs","output":"program"}');
    await run(folder, process.execPath, ['--build-sea', 'sea.json']);
    assert.match(await run(folder, join(folder, 'program'), []), missing);
  });

  it('a bundle throws an error if webpack did not add the thread', async (t) => {
    const folder = await bundle(t, 'webpack/lib/index.js');
    assert.match(await run(folder, process.execPath, ['program.mjs']), missing);
  });
});
