import assert from 'node:assert/strict';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import ts from 'typescript';
import { root } from '../support/sources.ts';
import { entries, moduleOf, specifierOf } from './entries.ts';
import { installNodeTypes, installPackage } from './installed.ts';
import { checker, exportsOf } from './public-declarations.ts';
import { run } from './run-to-end.ts';

/** Something that users call, and the examples in its documentation. */
interface Documented {
  readonly name: string;
  readonly examples: readonly string[];
}

/** What the examples may use besides the exports of the package. */
const declarations = `
  import type { IncomingMessage, Server, ServerResponse } from 'node:http';
  import { mkdtemp, rm, writeFile } from 'node:fs/promises';
  import { tmpdir } from 'node:os';
  import { join } from 'node:path';
  import { Pool } from 'pg';
  declare const app: { use(path: string, listener: (request: IncomingMessage, response: ServerResponse) => void): void };
  declare const authenticate: Authenticate;
  declare const server: Server;
  declare const storage: StorageAdapter;
  declare const store: PlantStore;
  declare class MyStorage extends MemoryStorage { constructor(folder: string); }
`;

const imported = new Set<string>();
const imports = entries
  .map((entry) => {
    // plant-store/fetch and plant-store/http export the same types.
    const names = [...entry.values, ...entry.types].filter((name) => !imported.has(name));
    for (const name of names) imported.add(name);
    return `import { ${names.join(', ')} } from '${specifierOf(entry)}';\n`;
  })
  .join('');

function examplesOf(symbol: ts.Symbol): string[] {
  return symbol
    .getJsDocTags(checker)
    .filter(({ name }) => name === 'example')
    .map(({ text }) => ts.displayPartsToString(text));
}

const adapterMethods = new Set(
  exportsOf('index')
    .filter(({ name }) => name === 'StorageAdapter')
    .flatMap((symbol) =>
      checker
        .getDeclaredTypeOfSymbol(symbol)
        .getProperties()
        .map(({ name }) => name),
    ),
);

/** Returns the methods of a class that users call. PlantStore calls those of an adapter. */
function methodsOf(symbol: ts.Symbol): ts.Symbol[] {
  if ((symbol.flags & ts.SymbolFlags.Class) === 0) return [];
  const members = checker.getDeclaredTypeOfSymbol(symbol).getProperties();
  const methods = members.filter(({ flags }) => (flags & ts.SymbolFlags.Method) !== 0);
  const isAdapter = methods.some(({ name }) => name === 'commit');
  return methods.filter(({ name }) => !(isAdapter && adapterMethods.has(name)));
}

const callable = ts.SymbolFlags.Class | ts.SymbolFlags.Function;

const exported = entries.flatMap((entry) => exportsOf(moduleOf(entry)));
const called: Documented[] = exported
  .filter(({ flags }) => (flags & callable) !== 0)
  .flatMap((symbol) => [
    { name: symbol.name, examples: examplesOf(symbol) },
    ...methodsOf(symbol).map((method) => ({
      name: `${symbol.name}.${checker.symbolToString(method)}`,
      examples: examplesOf(method),
    })),
  ]);
const types: Documented[] = exported
  .filter(({ flags }) => (flags & callable) === 0)
  .map((symbol) => ({ name: symbol.name, examples: examplesOf(symbol) }));

describe('examples in the declarations', () => {
  it('exist for each function, class and method that users call', () => {
    assert.ok(called.some(({ name }) => name.includes('asyncDispose')));
    assert.deepEqual(
      called.filter(({ examples }) => examples.length === 0).map(({ name }) => name),
      [],
    );
  });

  it('have types that TypeScript accepts', async (t) => {
    const folder = await installPackage(t);
    await installNodeTypes(folder);
    for (const name of ['@types/pg', 'pg-types', 'pg-protocol']) {
      await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'dir');
    }
    const files: string[] = [];
    for (const { name, examples } of [...called, ...types]) {
      for (const [index, example] of examples.entries()) {
        const file = `${name.replaceAll(/[^\w.]/g, '')}-${index}.ts`;
        files.push(file);
        await writeFile(
          join(folder, file),
          `${imports}${declarations}\nexport async function example(): Promise<void> {\n${example}\n}\n`,
        );
      }
    }
    assert.ok(files.length >= called.length);
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
    await run(folder, process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options, ...files]);
  });
});
