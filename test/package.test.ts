import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './support/temporary-folder.ts';
import type { HasAfter } from './support/temporary-folder.ts';
import { findProgram } from './runtimes/runtimes.ts';

interface Manifest {
  version: string;
  type: string;
  bin: Record<string, string>;
  exports: Record<string, string>;
  allowScripts: Record<string, boolean>;
  devDependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, object>;
}

interface Lockfile {
  packages: Record<string, { hasInstallScript?: boolean }>;
}

/** What `npm pack --json` tells of a tarball. */
interface Packed {
  filename: string;
  size: number;
  files: { path: string }[];
}

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
const manifest = JSON.parse(await read('package.json')) as Manifest;
const subpaths = Object.keys(manifest.exports).filter((subpath) => subpath !== './package.json');

/** Runs a program to its end and resolves with its standard output; fails where it fails. */
async function run(cwd: string, program: string, args: string[]): Promise<string> {
  // The Node that runs the tests also runs npm and whatever else asks for `node`.
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`;
  // And none of them is what coverage is measured of.
  const env = { ...process.env, PATH, NODE_V8_COVERAGE: '' };
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  assert.equal(code, 0, `${program} ${args.join(' ')}:\n${stdout}${stderr}`);
  return stdout;
}

async function pack(...flags: string[]): Promise<Packed> {
  assert.ok(existsSync(join(root, 'dist/index.js')), 'There is no dist: run `npm run build` first.');
  // Scripts are ignored because prepack would build again under the feet of other tests.
  const stdout = await run(root, 'npm', ['pack', '--json', '--ignore-scripts', ...flags]);
  const [packed] = Object.values(JSON.parse(stdout) as Record<string, Packed>);
  assert.ok(packed);
  return packed;
}

/** A folder with a package that has plant-store installed from its tarball. */
async function installPackage(t: HasAfter): Promise<string> {
  const folder = await temporaryFolder(t);
  const { filename } = await pack('--pack-destination', folder);
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  await run(folder, 'npm', ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', `./${filename}`]);
  return folder;
}

const { size, files } = await pack('--dry-run');
const paths = files.map(({ path }) => path);

describe('package.json', () => {
  it('has no dependencies but exact devDependencies, and one optional peer', () => {
    const kinds = Object.keys(manifest).filter((key) => /dependencies/i.test(key));
    assert.deepEqual(kinds.sort(), ['devDependencies', 'peerDependencies', 'peerDependenciesMeta']);
    assert.deepEqual(manifest.peerDependencies, { pg: '>=8.11' });
    assert.deepEqual(manifest.peerDependenciesMeta, { pg: { optional: true } });
    for (const [name, version] of Object.entries(manifest.devDependencies)) {
      assert.match(version, /^\d+\.\d+\.\d+(?:-[\w.]+)?$/, name);
    }
  });

  it('says of every package with an install script whether the script may run', async () => {
    const { packages } = JSON.parse(await read('package-lock.json')) as Lockfile;
    const scripted = Object.entries(packages)
      .filter(([, { hasInstallScript = false }]) => hasInstallScript)
      .map(([path]) => path.replace(/^.*node_modules\//, ''));
    assert.deepEqual(
      scripted.filter((name) => !(name in manifest.allowScripts)),
      [],
    );
  });

  it('goes with lockfiles that name no registry', async () => {
    for (const path of ['package-lock.json', 'test/bench/package-lock.json', 'test/runners/package-lock.json']) {
      assert.doesNotMatch(await read(path), /"resolved"/, path);
    }
  });
});

describe('the tarball', () => {
  it('is under 150 000 bytes', () => {
    assert.ok(size < 150_000, `It has ${size} bytes.`);
  });

  it('holds dist and the documents, and nothing else', () => {
    const documents = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'];
    assert.deepEqual(paths.filter((path) => !path.startsWith('dist/')).sort(), documents);
    assert.deepEqual(
      paths.filter((path) => path.startsWith('dist/') && !/\.(?:js|d\.ts)$/.test(path)),
      [],
    );
    assert.deepEqual(
      paths.filter((path) => /\.test\.|tsbuildinfo/.test(path)),
      [],
    );
  });

  it('has a file and its types for each export', () => {
    assert.deepEqual(subpaths.toSorted(), ['.', './http', './postgres', './sqlite', './testing']);
    for (const target of Object.values(manifest.exports)) {
      const path = target.replace('./', '');
      assert.ok(paths.includes(path), path);
      if (path.endsWith('.js')) assert.ok(paths.includes(path.replace(/\.js$/, '.d.ts')), `${path} has no types`);
    }
  });

  it('has a bin that starts with the shebang of node', async () => {
    for (const path of Object.values(manifest.bin)) {
      assert.ok(paths.includes(path), path);
      assert.ok((await read(path)).startsWith('#!/usr/bin/env node\n'), path);
    }
  });

  it('imports only its own files and the modules of Node, in code and in types', async () => {
    for (const path of paths.filter((each) => each.startsWith('dist/'))) {
      const code = (await read(path)).replace(/\/\*[\s\S]*?\*\//g, '');
      for (const [, specifier = ''] of code.matchAll(/(?:\bfrom\s+|\bimport(?:\s+|\s*\(\s*))['"]([^'"]+)['"]/g)) {
        if (specifier.startsWith('node:') && isBuiltin(specifier)) continue;
        const imported = join(dirname(path), specifier);
        // TypeScript leaves .ts in declarations, and reads the .d.ts beside for it.
        const file = path.endsWith('.d.ts') ? imported.replace(/\.[jt]s$/, '.d.ts') : imported;
        assert.ok(specifier.startsWith('.') && paths.includes(file), `${path} imports ${specifier}`);
      }
    }
  });
});

const embedding = `
import { PlantStore } from 'plant-store';
import type { StoredPlant } from 'plant-store';
import { SqliteStorage } from 'plant-store/sqlite';
import { createRequestListener } from 'plant-store/http';

const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
await store.createPlant('ada', { id: 9007199254740993n, name: 'Fern', tag: 'pteridophyte' });
await store.createPlant('ada', { id: 1, name: 'Moss' });
await store.deletePlant('ada', 1);
const plants: StoredPlant[] = await store.listPlants('ada', { limit: 10 });
const listener = createRequestListener(store, { authenticate: (token) => ({ user: token }) });
console.log(plants.map(({ id, name, tag }) => [String(id), name, tag]), typeof listener);
await store.close();
`;

const compilers = [
  { version: 6, path: 'node_modules/typescript/bin/tsc' },
  { version: 7, path: 'typescript/bin/tsc' },
];

const [nodenext, bundler] = [['nodenext'], ['esnext', '--moduleResolution', 'bundler']];
const programs = [
  {
    name: 'core.ts',
    imports: subpaths.filter((subpath) => !['./http', './testing'].includes(subpath)),
    module: bundler,
  },
  { name: 'http.ts', imports: ['./http'], module: nodenext },
  { name: 'testing.ts', imports: ['./testing'], module: bundler },
];

describe('an installed copy', () => {
  it('embeds: its types check strictly and the compiled program keeps plants in SQLite', async (t) => {
    const folder = await installPackage(t);
    await writeFile(join(folder, 'garden.ts'), embedding);
    const compilerOptions = {
      target: 'es2023',
      lib: ['es2024', 'esnext.disposable'],
      module: 'nodenext',
      strict: true,
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    await run(folder, process.execPath, [join(root, 'node_modules/typescript/bin/tsc')]);

    const stdout = await run(folder, process.execPath, ['garden.js']);
    assert.equal(stdout.replace(/\s+/g, ' ').trim(), "[ [ '9007199254740993', 'Fern', 'pteridophyte' ] ] function");
    assert.ok(existsSync(join(folder, 'plants.db')));
  });

  for (const { version, path } of compilers) {
    it(`has types that TypeScript ${version} checks without a setting for types or libraries`, async (t) => {
      const tsc = version === 6 ? join(root, path) : findProgram(t, path);
      if (tsc === undefined) return;
      const folder = await installPackage(t);
      await mkdir(join(folder, 'node_modules/@types'));
      for (const name of ['node', 'undici-types']) {
        const place = name === 'node' ? '@types/node' : name;
        await symlink(join(root, 'node_modules', place), join(folder, 'node_modules', place), 'dir');
      }
      // Several programs, because a reference to types in one file holds for all files of its program.
      await Promise.all(
        programs.map(async ({ name, imports, module }) => {
          await writeFile(
            join(folder, name),
            imports.map((subpath) => `import '${join('plant-store', subpath)}';\n`).join(''),
          );
          await run(folder, process.execPath, [
            tsc,
            '--noEmit',
            '--strict',
            '--target',
            'es2023',
            '--module',
            ...module,
            name,
          ]);
        }),
      );
    });
  }

  it('lets every public subpath be imported, and no other file', async (t) => {
    const folder = await installPackage(t);
    const names = subpaths.map((subpath) => join('plant-store', subpath));
    const script = names.map((name) => `assert.notEqual(Object.keys(await import('${name}')).length, 0, '${name}');`);
    await writeFile(
      join(folder, 'imports.js'),
      `
      import assert from 'node:assert/strict';
      ${script.join('\n')}
      await assert.rejects(import('plant-store/dist/index.js'), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' });
    `,
    );
    await run(folder, process.execPath, ['imports.js']);
  });

  it('brings the command plant-store', async (t) => {
    const folder = await installPackage(t);
    const command = join(folder, 'node_modules/.bin/plant-store');
    assert.equal(await run(folder, command, ['--version']), `${manifest.version}\n`);
    assert.match(await run(folder, command, ['--help']), /^Usage: plant-store /);
  });
});
