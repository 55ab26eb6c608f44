import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { root } from '../support/sources.ts';
import { findProgram } from '../support/installed-program.ts';
import { entries, moduleOf, specifierOf } from './entries.ts';
import { installPackage, linkTypes } from './installed.ts';
import { assertProgramRuns, readProgram } from './read-program.ts';
import { run, runToEnd } from './pack.ts';

/** The compilers by version. TypeScript 5.1 and older do not have the library `esnext.disposable`. */
const compilers: Readonly<Record<string, (t: TestContext) => string | undefined>> = {
  '5.2': (t) => findProgram(t, 'package', 'typescript-5/bin/tsc'),
  '6.0': () => join(root, 'node_modules/typescript/bin/tsc'),
  '7.0': (t) => findProgram(t, 'package', 'typescript-7/bin/tsc'),
};

const nodenext = ['--module', 'nodenext'];
const bundler = ['--module', 'esnext', '--moduleResolution', 'bundler'];
const options = ['--strict', '--skipLibCheck', 'false', '--target', 'es2022'];

/**
 * The source file of a program that uses every export. `output` is the compiled file if it can run without a bundler.
 */
const programs: readonly (readonly [name: string, file: string, flags: readonly string[], output?: string])[] = [
  ['a program', 'program.ts', nodenext, 'program.js'],
  ['a program for a bundler', 'program.ts', bundler],
  ['a CommonJS program', 'program.cts', nodenext, 'program.cjs'],
];

describe('types of the package', () => {
  for (const [version, find] of Object.entries(compilers)) {
    for (const [name, file, flags, output] of programs) {
      // TypeScript 5.2 does not let CommonJS import ES modules.
      if (version === '5.2' && file === 'program.cts') continue;
      it(`let TypeScript ${version} compile ${name} that uses every export`, async (t) => {
        const tsc = find(t);
        if (tsc === undefined) return;
        const folder = await installPackage(t);
        await linkTypes(folder);
        await writeFile(join(folder, file), await readProgram());
        await run(folder, process.execPath, [tsc, ...options, ...flags, file]);
        if (output !== undefined) await assertProgramRuns(folder, output);
      });
    }
  }

  for (const entry of entries) {
    const { needsNodeTypes = false } = entry;
    // Each entry has its own program, because a reference to types in one file applies to all files of a program.
    it(`of ${specifierOf(entry)} ${needsNodeTypes ? 'need' : 'do not need'} @types/node, and require no compiler setting`, async (t) => {
      const tsc = compilers['7.0']?.(t);
      if (tsc === undefined) return;
      const folder = await installPackage(t);
      const file = `${moduleOf(entry)}.ts`;
      const code = `import * as names from '${specifierOf(entry)}';\nexport type Names = typeof names;\nexport { names };\n`;
      await writeFile(join(folder, file), code);
      const args = [tsc, '--noEmit', ...options, ...nodenext, file];
      if (needsNodeTypes) {
        const { code, stdout } = await runToEnd(folder, process.execPath, args);
        assert.notEqual(code, 0);
        assert.match(stdout, /Cannot find type definition file for 'node'/);
        await linkTypes(folder);
      }
      await run(folder, process.execPath, args);
    });
  }
});
