import assert from 'node:assert/strict';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { parsePage, readSnippets } from '../support/documents.ts';
import { skipWithout } from '../support/system-fault.ts';
import { runProgram } from '../support/run-program.ts';
import { root } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';
import { entries } from './entries.ts';
import { install, run } from './pack.ts';

// The tests copy one installation, because `npm install` is slow. It contains two copies of the package.
const installed = await temporaryFolder({ after });
const { files, size } = await install(installed);
const paths = files.map(({ path }) => path);
const modules = join(installed, 'node_modules');
await cp(join(modules, 'plant-store'), join(modules, 'plant-store-copy'), { recursive: true });

/** Creates a folder with a copy of the installation. */
async function installPackage(t: HasAfter): Promise<string> {
  const folder = await temporaryFolder(t);
  await cp(installed, folder, { recursive: true, verbatimSymlinks: true });
  return folder;
}

/** Makes `@types/node` and other packages of this repository available to the programs in a folder. */
async function linkTypes(folder: string, ...others: readonly string[]): Promise<void> {
  for (const name of ['@types/node', 'undici-types', ...others]) {
    const link = join(folder, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(root, 'node_modules', name), link, 'dir');
  }
}

const imports = entries.map(({ module, specifier }) => `import * as ${module} from '${specifier}';`);
const types = entries.flatMap(({ module, types }) =>
  types.map((name) => `export type ${module}_${name} = ${module}.${name};`),
);
const values = entries.flatMap(({ module, values }) => values.map((name) => `${module}.${name}`));

/**
 * A TypeScript program that uses every export of the package, serves a wrapped store and a store of a second copy of
 * the package, and stores and lists a plant.
 */
const program = `
${[...imports, ...types].join('\n')}
import { MemoryStorage, PlantStore } from 'plant-store-copy';

const values: unknown[] = [${values.join(', ')}];

async function main(): Promise<void> {
  const store = new index.PlantStore({ storage: new sqlite.SqliteStorage('plants.db', { commitThread: true }) });
  await store.createPlant('ada', { id: 9007199254740993n, name: 'Fern' });
  const wrapper: http.ServiceStore = {
    createPlant: (user, plant) => store.createPlant(user, plant),
    listPageJson: (user, options) => store.listPageJson(user, options),
    deletePlant: (user, id) => store.deletePlant(user, id),
  };
  const authenticate = (user: string) => ({ user });
  http.createRequestListener(new PlantStore({ storage: new MemoryStorage() }), { authenticate });
  const plants = fetch.createFetchHandler(wrapper, { authenticate });
  const response = await plants(new Request('http://localhost/plants', { headers: { authorization: 'Bearer ada' } }));
  console.log(values.includes(undefined), await response.text());
  await store.close();
}

void main();
`;

const options = [
  '--strict',
  ...['--exactOptionalPropertyTypes', '--noImplicitOverride', '--noImplicitReturns', '--noFallthroughCasesInSwitch'],
  ...['--noPropertyAccessFromIndexSignature', '--noUncheckedIndexedAccess', '--noUnusedLocals', '--noUnusedParameters'],
  ...['--skipLibCheck', 'false', '--target', 'es2022'],
];
const nodenext = ['--module', 'nodenext'];
const verbatim = ['--isolatedModules', '--verbatimModuleSyntax'];
const bundler = ['--module', 'esnext', '--moduleResolution', 'bundler'];

const skip = skipWithout('test/package');
const tscOf = (compiler: string): string => join(root, 'test/package/node_modules', compiler, 'bin/tsc');

/** Compilations of the program. `output` is the compiled file if it can run without a bundler. */
const compilations: readonly { compiler: string; file: string; flags: readonly string[]; output?: string }[] = [
  { compiler: 'typescript-5', file: 'program.ts', flags: nodenext, output: 'program.js' },
  { compiler: 'typescript-6', file: 'program.mts', flags: [...nodenext, ...verbatim], output: 'program.mjs' },
  { compiler: 'typescript-7', file: 'program.cts', flags: nodenext, output: 'program.cjs' },
  { compiler: 'typescript-7', file: 'program.ts', flags: bundler },
];

/** Declares the names that the `@example` code uses, besides the exports of the package. */
const declarations = `
  import type { IncomingMessage, Server, ServerResponse } from 'node:http';
  import { mkdtemp, rm, writeFile } from 'node:fs/promises';
  import { tmpdir } from 'node:os';
  import { join } from 'node:path';
  import { Pool } from 'pg';
  declare const app: { use(path: string, listener: ServiceListener): void };
  declare const authenticate: Authenticate;
  declare const server: Server;
  declare const storage: StorageAdapter;
  declare const store: PlantStore;
  declare const tokenOfAda: string;
  declare const tokenOfBob: string;
  declare class MyStorage extends MemoryStorage { constructor(folder?: string); }
`;

/** Imports every export only once, because plant-store/fetch and plant-store/http export the same types. */
function importAll(): string {
  const exported = entries.flatMap(({ specifier, values, types }) =>
    [...values, ...types].map((name) => [name, specifier] as const),
  );
  return Array.from(new Map(exported), ([name, from]) => `import { ${name} } from '${from}';\n`).join('');
}

/** Returns the `@example` code in the declaration files of a folder. */
async function readExamples(folder: string): Promise<string[]> {
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.d.ts'));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  const found = texts.join('\n').matchAll(/^ *\* @example\n((?: *\* [^@\n]*\n)+)/gm);
  return Array.from(found, ([, lines = '']) => lines.replaceAll(/^ *\* /gm, ''));
}

describe('the tarball', { concurrency: 2 }, () => {
  it('the tarball contains only the intended files, and is smaller than 300,000 bytes', () => {
    const documents = ['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md', 'package.json'];
    const topLevel = new Set(paths.map((path) => path.replace(/\/.*/, '')));
    assert.deepEqual([...topLevel].sort(), [...documents, 'deploy', 'dist', 'docs', 'examples', 'test'].sort());
    const unintended = /^dist\/.*(?<!\.js|\.d\.ts)$|node_modules|lock|tsconfig|\.tgz$|^test\/.*\.ts$/;
    const superfluous = paths.filter((path) => unintended.test(path));
    assert.deepEqual(superfluous, []);
    assert.ok(size < 300_000, `It has ${size} bytes.`);
  });

  it('the tarball contains the target of every relative link', async () => {
    const pages = await Promise.all(paths.filter((path) => path.endsWith('.md')).map(parsePage));
    const targets = new Set(pages.flatMap(({ links }) => links.map(({ target }) => target.replace(/\/$/, ''))));
    assert.ok(targets.size > 20);
    for (const target of targets) {
      const isPacked = paths.some((path) => path === target || path.startsWith(`${target}/`));
      assert.ok(isPacked, `${target} is not in the tarball`);
    }
  });

  it('the tarball lets TypeScript 5, 6 and 7 compile a program that uses every export', { skip }, async (t) => {
    for (const { compiler, file, flags, output } of compilations) {
      const folder = await installPackage(t);
      await linkTypes(folder);
      await writeFile(join(folder, file), program);
      await run(folder, process.execPath, [tscOf(compiler), ...options, ...flags, file]);
      if (output !== undefined) {
        assert.equal(await run(folder, process.execPath, [output]), 'false [{"name":"Fern"}]\n');
      }
    }
  });

  it('the tarball compiles without @types/node, except for plant-store/http and /testing', { skip }, async (t) => {
    const folder = await installPackage(t);
    const args = [tscOf('typescript-7'), '--noEmit', ...options, '--lib', 'es2022,dom', ...nodenext, 'types.ts'];
    const compile = async (isExported: (module: string) => boolean): Promise<string> => {
      const exported = entries.filter(({ module }) => isExported(module));
      const code = exported.map(({ module, specifier }) => `export * as ${module} from '${specifier}';\n`);
      await writeFile(join(folder, 'types.ts'), code.join(''));
      return (await runProgram(process.execPath, args, { cwd: folder })).stdout;
    };
    const needsNode = ['http', 'testing'];
    assert.equal(await compile((module) => !needsNode.includes(module)), '');
    for (const each of needsNode) assert.match(await compile((module) => module === each), /'node:http'|'node:test'/);
  });

  it('the tarball has @example code for its exports, and TypeScript accepts it and the snippets', async (t) => {
    const folder = await installPackage(t);
    await linkTypes(folder, '@types/express', '@types/pg', 'pg-types', 'pg-protocol');
    const examples = await readExamples(join(folder, 'node_modules/plant-store/dist'));
    const isShown = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(examples.join(''));
    const values = entries.flatMap((entry) => entry.values);
    const withoutExample = values.filter((name) => !isShown(name));
    assert.deepEqual(withoutExample, ['errorTable', 'PlantStoreError']);
    const functions = examples.map((code, n) => `export async function example${n}() {\n${code}}\n`);
    const snippets = (await readSnippets()).filter(({ language }) => language === 'ts').map(({ code }) => code);
    const files = [importAll() + declarations + functions.join(''), ...snippets];
    for (const [n, code] of files.entries()) await writeFile(join(folder, `example-${n}.ts`), code);
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const settings = ['--strict', ...nodenext, '--target', 'es2023', '--types', 'node'];
    await run(folder, process.execPath, [tsc, '--noEmit', ...settings, ...files.map((_, n) => `example-${n}.ts`)]);
  });
});
