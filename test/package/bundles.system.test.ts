import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findProgram } from '../support/installed-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { installPackage } from './installed.ts';
import { compileProgram, assertProgramRuns } from './read-program.ts';
import { run } from './run-to-end.ts';

const viteConfig = `export const build = { ssr: 'program.mjs', outDir: '.', emptyOutDir: false };
export default { build: { ...build, rollupOptions: { output: { entryFileNames: 'bundle.mjs' } } }, ssr: { noExternal: true } };
`;

const bundlers = [
  {
    name: 'esbuild',
    program: 'esbuild/bin/esbuild',
    args: ['program.mjs', '--bundle', '--platform=node', '--format=esm', '--outfile=bundle.mjs'],
  },
  {
    name: 'esbuild, minified and as CommonJS,',
    program: 'esbuild/bin/esbuild',
    args: ['program.mjs', '--bundle', '--minify', '--platform=node', '--format=cjs', '--outfile=bundle.cjs'],
  },
  { name: 'Vite in SSR mode', program: 'vite/bin/vite.js', args: ['build', '--logLevel', 'warn'] },
];

describe('bundles of a program that uses every export', () => {
  for (const { name, program, args } of bundlers) {
    it(`by ${name} run without the package`, async (t) => {
      const bundler = findProgram(t, 'package', program);
      if (bundler === undefined) return;
      const folder = await installPackage(t);
      await writeFile(join(folder, 'program.mjs'), await compileProgram('ESNext'));
      await writeFile(join(folder, 'vite.config.mjs'), viteConfig);
      await run(folder, process.execPath, [bundler, ...args]);

      const bundle = args.some((arg) => arg.endsWith('.cjs')) ? 'bundle.cjs' : 'bundle.mjs';
      const elsewhere = await temporaryFolder(t);
      await copyFile(join(folder, bundle), join(elsewhere, bundle));
      await assertProgramRuns(elsewhere, bundle);
    });
  }
});
