import assert from 'node:assert/strict';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readDocument } from '../support/documents.ts';
import { findProgram } from '../support/installed-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';
import { entries, specifierOf } from './entries.ts';
import { installPackage } from './installed.ts';
import { run } from './pack.ts';
import { assertProgramRuns, compileProgram } from './read-program.ts';

/** Installs the package in a folder, runs a program there, and returns the standard output of the program. */
async function runInstalled(t: HasAfter, name: string, code: string): Promise<string> {
  const folder = await installPackage(t);
  await writeFile(join(folder, name), code);
  return run(folder, process.execPath, [name]);
}

const commitThread = `
import { PlantStore } from 'plant-store';
import { SqliteStorage } from 'plant-store/sqlite';

process.on('worker', () => console.log('a thread was started'));
const store = new PlantStore({ storage: new SqliteStorage('plants.db', { commitThread: true }) });
await store.createPlant('ada', { id: 7, name: 'Fern' });
console.log(await store.listPlants('ada'));
await store.close();
`;
const commitThreadOutput = "a thread was started\n[ { id: 7n, name: 'Fern' } ]\n";

describe('installed package', () => {
  for (const [format, name] of [
    ['ESNext', 'program.mjs'],
    ['CommonJS', 'program.cjs'],
  ] as const) {
    it(`runs a program that uses every export, as ${name}`, async (t) => {
      const folder = await installPackage(t);
      await writeFile(join(folder, name), await compileProgram(format));
      await assertProgramRuns(folder, name);
    });
  }

  it('exports the same objects to require() as to import', async (t) => {
    const code = `const assert = require('node:assert/strict');
      (async () => {
        for (const name of ${JSON.stringify(entries.map(specifierOf))})
          assert.deepEqual({ ...require(name) }, { ...(await import(name)) });
      })();`;
    await runInstalled(t, 'compare.cjs', code);
  });

  it('does not let a program import a file that the package does not export', async (t) => {
    const code = `import assert from 'node:assert/strict';
      await assert.rejects(import('plant-store/dist/index.js'), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' });`;
    await runInstalled(t, 'imports.mjs', code);
  });

  it('contains the command plant-store', async (t) => {
    const folder = await installPackage(t);
    const command = join(folder, 'node_modules/.bin/plant-store');
    const { version } = JSON.parse(await readDocument('package.json')) as { version: string };
    assert.equal(await run(folder, command, ['--version']), `${version}\n`);
    assert.match(await run(folder, command, ['--help']), /^Usage: plant-store /);
  });

  it('runs a commit thread', async (t) => {
    assert.equal(await runInstalled(t, 'program.mjs', commitThread), commitThreadOutput);
  });
});

const viteConfig = `export const build = { ssr: 'program.mjs', outDir: 'out', emptyOutDir: false };
export default { build: { ...build, rollupOptions: { output: { entryFileNames: 'program.mjs' } } }, ssr: { noExternal: true } };
`;

/**
 * Installs the package in a folder, and bundles a program together with the package. Returns another folder, which
 * contains only the bundle.
 */
async function bundle(t: HasAfter, code: string, bundler: string, args: readonly string[]): Promise<string> {
  const folder = await installPackage(t);
  await writeFile(join(folder, 'program.mjs'), code);
  await writeFile(join(folder, 'vite.config.mjs'), viteConfig);
  await run(folder, process.execPath, [bundler, ...args]);
  const elsewhere = await temporaryFolder(t);
  await cp(join(folder, 'out'), elsewhere, { recursive: true });
  return elsewhere;
}

const esbuild = 'esbuild/bin/esbuild';
const forNode = ['--bundle', '--platform=node', '--outdir=out'];
const esModule = ['program.mjs', ...forNode, '--format=esm', '--out-extension:.js=.mjs'];
const minified = ['program.mjs', ...forNode, '--format=cjs', '--out-extension:.js=.cjs', '--minify'];

describe('program in a folder without the package', () => {
  for (const [name, program, args, file] of [
    ['esbuild', esbuild, esModule, 'program.mjs'],
    ['esbuild, minified and as CommonJS,', esbuild, minified, 'program.cjs'],
    ['Vite in SSR mode', 'vite/bin/vite.js', ['build', '--logLevel', 'warn'], 'program.mjs'],
  ] as const) {
    it(`that was bundled by ${name} can use every export`, async (t) => {
      const bundler = findProgram(t, 'package', program);
      if (bundler === undefined) return;
      const folder = await bundle(t, await compileProgram('ESNext'), bundler, args);
      await assertProgramRuns(folder, file);
    });
  }

  it('that was bundled by esbuild runs a commit thread if the thread file was bundled, too', async (t) => {
    const bundler = findProgram(t, 'package', esbuild);
    if (bundler === undefined) return;
    // The arguments are those in docs/embedding.md.
    const worker = 'worker=./node_modules/plant-store/dist/storage/sqlite/commit-thread/worker.js';
    const folder = await bundle(t, commitThread, bundler, ['program.mjs', worker, ...forNode, '--format=esm']);
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    assert.equal(await run(folder, process.execPath, ['program.js']), commitThreadOutput);
  });
});
