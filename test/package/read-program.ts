import assert from 'node:assert/strict';
import ts from 'typescript';
import { readDocument } from '../support/documents.ts';
import { entries, moduleOf, specifierOf } from './entries.ts';
import { run } from './pack.ts';

/** The last lines that the program in program.ts prints. */
const programOutput = `embedded: 9007199254740993 id_taken 400 1 [{"name":"Fern","tag":"indoor"}]
served: [{"name":"Moss"}] [{"name":"Moss"}] [{"name":"Moss"}]
suites: function function
PostgreSQL: storage_unavailable
tokens: no tokens file
document: 3.1.0
`;

/**
 * Returns a TypeScript program that imports `plant-store` and uses every export: program.ts with a use of every type.
 */
export async function readProgram(): Promise<string> {
  const code = await readDocument('test/package/program.ts');
  const importing = code.replaceAll(/'\.\.\/\.\.\/src\/(\w+)\.ts'/g, (_, name: string) =>
    name === 'index' ? "'plant-store'" : `'plant-store/${name}'`,
  );
  const types = entries.flatMap((entry) =>
    entry.types.map((name) => `export type ${moduleOf(entry)}_${name} = import('${specifierOf(entry)}').${name};\n`),
  );
  return importing + types.join('');
}

/** Returns the program that uses every export, compiled to JavaScript. */
export async function compileProgram(module: 'CommonJS' | 'ESNext'): Promise<string> {
  const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind[module] };
  return ts.transpileModule(await readProgram(), { compilerOptions }).outputText;
}

/** Runs the compiled program, and asserts that every part of the program works. */
export async function assertProgramRuns(folder: string, file: string): Promise<void> {
  const stdout = await run(folder, process.execPath, [file]);
  assert.ok(stdout.endsWith(programOutput), stdout);
}
