import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { entries, specifierOf } from './entries.ts';
import { installPackage } from './installed.ts';
import { compileProgram, assertProgramRuns } from './read-program.ts';
import { run } from './run-to-end.ts';
import { manifest } from './manifest.ts';

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

  it('exports from require() the same objects as from import', async (t) => {
    const folder = await installPackage(t);
    const specifiers = JSON.stringify(entries.map(specifierOf));
    await writeFile(
      join(folder, 'compare.cjs'),
      `const assert = require('node:assert/strict');
      (async () => {
        for (const name of ${specifiers}) assert.deepEqual({ ...require(name) }, { ...(await import(name)) });
      })();`,
    );
    await run(folder, process.execPath, ['compare.cjs']);
  });

  it('does not let a program import other files', async (t) => {
    const folder = await installPackage(t);
    await writeFile(
      join(folder, 'imports.mjs'),
      `import assert from 'node:assert/strict';
      await assert.rejects(import('plant-store/dist/index.js'), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' });`,
    );
    await run(folder, process.execPath, ['imports.mjs']);
  });

  it('contains the command plant-store', async (t) => {
    const folder = await installPackage(t);
    const command = join(folder, 'node_modules/.bin/plant-store');
    assert.equal(await run(folder, command, ['--version']), `${manifest.version}\n`);
    assert.match(await run(folder, command, ['--help']), /^Usage: plant-store /);
  });
});
