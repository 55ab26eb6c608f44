import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { root } from '../support/sources.ts';
import { findProgram } from '../support/installed-program.ts';
import { entries, moduleOf, specifierOf } from './entries.ts';
import { installNodeTypes, installPackage } from './installed.ts';
import { assertProgramRuns, readProgram } from './read-program.ts';
import { run, runToEnd } from './run-to-end.ts';

interface Compiler {
  readonly version: string;
  readonly find: (t: TestContext) => string | undefined;
}

/** The oldest version that reads the declarations: older ones do not have the library `esnext.disposable`. */
const oldest: Compiler = { version: '5.2', find: (t) => findProgram(t, 'package', 'typescript-5/bin/tsc') };
const pinned: Compiler = { version: '6.0', find: () => join(root, 'node_modules/typescript/bin/tsc') };
const newest: Compiler = { version: '7.0', find: (t) => findProgram(t, 'package', 'typescript-7/bin/tsc') };

const resolutions = {
  nodenext: ['--module', 'nodenext'],
  bundler: ['--module', 'esnext', '--moduleResolution', 'bundler'],
};
const options = ['--strict', '--skipLibCheck', 'false', '--target', 'es2022'];

const coreEntries = entries.filter(({ needsNodeTypes }) => !needsNodeTypes);
const nodeEntries = entries.filter(({ needsNodeTypes }) => needsNodeTypes);

/** Writes a program for each entry that imports all its types. */
async function writeImports(folder: string): Promise<void> {
  for (const entry of entries) {
    const code = `import * as names from '${specifierOf(entry)}';\nexport type Names = typeof names;\nexport { names };\n`;
    await writeFile(join(folder, `${moduleOf(entry)}.ts`), code);
  }
}

for (const { version, find } of [oldest, pinned, newest]) {
  describe(`types under TypeScript ${version}`, () => {
    for (const [resolution, module] of Object.entries(resolutions)) {
      it(`accept a program that uses every export, with module resolution ${resolution}`, async (t) => {
        const tsc = find(t);
        if (tsc === undefined) return;
        const folder = await installPackage(t);
        await installNodeTypes(folder);
        await writeFile(join(folder, 'program.ts'), await readProgram());
        await run(folder, process.execPath, [tsc, ...options, ...module, 'program.ts']);
        if (resolution === 'nodenext') await assertProgramRuns(folder, 'program.js');
      });
    }

    it('need @types/node only where the table of entries says so', async (t) => {
      const tsc = find(t);
      if (tsc === undefined) return;
      const folder = await installPackage(t);
      await writeImports(folder);
      const flags = [tsc, '--noEmit', ...options, ...resolutions.nodenext];
      // One program for each entry, because a reference to types in one file applies to all files of its program.
      for (const entry of coreEntries) await run(folder, process.execPath, [...flags, `${moduleOf(entry)}.ts`]);
      for (const entry of nodeEntries) {
        const { code, stdout } = await runToEnd(folder, process.execPath, [...flags, `${moduleOf(entry)}.ts`]);
        assert.notEqual(code, 0, entry.subpath);
        assert.match(stdout, /Cannot find type definition file for 'node'/);
      }
    });

    it('need no setting for types, in a program that imports only one entry', async (t) => {
      const tsc = find(t);
      if (tsc === undefined) return;
      const folder = await installPackage(t);
      await installNodeTypes(folder);
      await writeImports(folder);
      for (const entry of nodeEntries) {
        const args = [tsc, '--noEmit', ...options, ...resolutions.nodenext, `${moduleOf(entry)}.ts`];
        await run(folder, process.execPath, args);
      }
    });
  });
}

for (const { version, find } of [pinned, newest]) {
  it(`types under TypeScript ${version} accept a CommonJS program`, async (t) => {
    const tsc = find(t);
    if (tsc === undefined) return;
    const folder = await installPackage(t);
    await installNodeTypes(folder);
    await writeFile(join(folder, 'program.cts'), await readProgram());
    await run(folder, process.execPath, [tsc, ...options, ...resolutions.nodenext, 'program.cts']);
    await assertProgramRuns(folder, 'program.cjs');
  });
}
