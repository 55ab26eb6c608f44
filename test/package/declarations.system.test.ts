import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { readDocument } from '../support/documents.ts';
import { root } from '../support/sources.ts';
import { entries, moduleOf, specifierOf } from './entries.ts';
import { installPackage, linkTypes } from './installed.ts';
import { run } from './pack.ts';
import { readProgram } from './read-program.ts';

const pathOf = (module: string): string => join(root, `dist/${module}.d.ts`);
const program = ts.createProgram(
  entries.map((entry) => pathOf(moduleOf(entry))),
  { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023, strict: true, types: ['node'] },
);
const checker = program.getTypeChecker();

/** Returns the exports of a public entry, according to its declarations in `dist`. */
function exportsOf(module: string): ts.Symbol[] {
  const file = program.getSourceFile(pathOf(module));
  assert.ok(file, `There is no ${pathOf(module)}: run \`npm run build\` first.`);
  const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(file) ?? assert.fail());
  return symbols.map((symbol) => (has(symbol, ts.SymbolFlags.Alias) ? checker.getAliasedSymbol(symbol) : symbol));
}

function has(symbol: ts.Symbol, flag: ts.SymbolFlags): boolean {
  return (symbol.flags & flag) !== 0;
}

const exported = entries.flatMap((entry) => exportsOf(moduleOf(entry)));

describe('docs/embedding.md', () => {
  it('lists each function, class and constant that an entry exports', async () => {
    const page = await readDocument('docs/embedding.md');
    for (const entry of entries) {
      const row = new RegExp(`^\\| \`${specifierOf(entry)}\` +\\| (.*?) *\\|$`, 'm').exec(page)?.[1] ?? '';
      const names = Array.from(row.matchAll(/\w+(?=`)/g), String);
      assert.deepEqual(names.sort(), entry.values.toSorted(), specifierOf(entry));
    }
  });
});

for (const entry of entries) {
  const { values, types } = entry;
  const module = moduleOf(entry);

  describe(`names that ${specifierOf(entry)} exports`, () => {
    it('match the values in the table', async () => {
      const url = pathToFileURL(join(root, `dist/${module}.js`)).href;
      assert.deepEqual(Object.keys((await import(url)) as object).sort(), values);
    });

    it('match the values and types in the table, according to the declarations', () => {
      const symbols = exportsOf(module);
      const names = (isValue: boolean): string[] =>
        symbols.filter((symbol) => has(symbol, ts.SymbolFlags.Value) === isValue).map(({ name }) => name);
      assert.deepEqual(names(true).sort(), values);
      assert.deepEqual(names(false).sort(), types);
    });

    it('are used in program.ts if they are values', async () => {
      const imports = (await readProgram()).matchAll(/^import \{([^}]*)\} from '(.*)';$/gm);
      const used = [...imports].filter(([, , from]) => from === specifierOf(entry)).map(([, names = '']) => names);
      assert.deepEqual((used.join().match(/\w+/g) ?? []).sort(), values);
    });
  });
}

/** The declarations that the examples can use besides the exports of the package. */
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
  declare const tokenOfAda: string;
  declare const tokenOfBob: string;
  declare class MyStorage extends MemoryStorage { constructor(folder: string); }
`;

/** Imports every export only once, because plant-store/fetch and plant-store/http export the same types. */
function importAll(): string {
  const specifiers = new Map<string, string>();
  for (const entry of entries) {
    for (const name of [...entry.values, ...entry.types]) specifiers.set(name, specifierOf(entry));
  }
  return Array.from(specifiers, ([name, specifier]) => `import { ${name} } from '${specifier}';\n`).join('');
}

/** Returns the name of a symbol, and the examples in its documentation. */
function documented(name: string, symbol: ts.Symbol): { name: string; examples: string[] } {
  const tags = symbol.getJsDocTags(checker).filter((tag) => tag.name === 'example');
  return { name, examples: tags.map(({ text }) => ts.displayPartsToString(text)) };
}

function membersOf(symbol: ts.Symbol | undefined): ts.Symbol[] {
  return symbol === undefined ? [] : checker.getDeclaredTypeOfSymbol(symbol).getProperties();
}

const adapterMethods = membersOf(exported.find(({ name }) => name === 'StorageAdapter')).map(({ name }) => name);

/** Returns the methods that users of a class call. Adapter methods are omitted, because PlantStore calls them. */
function methodsOf(symbol: ts.Symbol): ts.Symbol[] {
  if (!has(symbol, ts.SymbolFlags.Class)) return [];
  const methods = membersOf(symbol).filter((member) => has(member, ts.SymbolFlags.Method));
  const isAdapter = methods.some(({ name }) => name === 'commit');
  return methods.filter(({ name }) => !(isAdapter && adapterMethods.includes(name)));
}

const callable = exported.filter((symbol) => has(symbol, ts.SymbolFlags.Class | ts.SymbolFlags.Function));
const called = callable.flatMap((symbol) => [
  documented(symbol.name, symbol),
  ...methodsOf(symbol).map((method) => documented(`${symbol.name}.${checker.symbolToString(method)}`, method)),
]);
const types = exported.filter((symbol) => !callable.includes(symbol)).map((symbol) => documented(symbol.name, symbol));

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
    await linkTypes(folder, '@types/pg', 'pg-types', 'pg-protocol');
    const files: string[] = [];
    for (const { name, examples } of [...called, ...types]) {
      for (const [index, example] of examples.entries()) {
        const file = `${name.replaceAll(/[^\w.]/g, '')}-${index}.ts`;
        files.push(file);
        const code = `export async function example(): Promise<void> {\n${example}\n}\n`;
        await writeFile(join(folder, file), `${importAll()}${declarations}\n${code}`);
      }
    }
    assert.ok(files.length >= called.length);
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
    await run(folder, process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options, ...files]);
  });
});
