import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { errorTable } from '../../src/model/errors.ts';
import { runCommand } from '../support/command-line.ts';
import type { Finished } from '../support/command-line.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const tsx = import.meta.resolve('tsx');
const sourceOf = (name: string): string => new URL(`../../src/cli/${name}`, import.meta.url).href;

/** Runs this Node with some modules before a line of code. */
async function runNode(imports: string[], code: string, ...rest: string[]): Promise<Finished> {
  const args = [...imports.flatMap((url) => ['--import', url]), '--input-type=module', '--eval', code, ...rest];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { code: exitCode, stdout, stderr };
}

describe('plant-store', { concurrency: 4 }, () => {
  const flagsOf = {
    serve: ['--host', '--port', '--storage', '--tokens', '--log', '--help'],
    token: ['--scope', '--expires-in', '--tokens', '--help'],
    copy: ['--from', '--to', '--help'],
    export: ['--storage', '--help'],
    import: ['--storage', '--strict', '--help'],
    backup: ['--storage', '--help'],
    check: ['--token', '--read-only-token', '--concurrent', '--clients', '--operations', '--json', '--help'],
  };

  it('shows help, with every command in it', async (t) => {
    const { code, stdout, stderr } = await runCommand(['--help'], { cwd: await temporaryFolder(t) });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^Usage: plant-store COMMAND/);
    for (const command of Object.keys(flagsOf)) assert.match(stdout, new RegExp(`^ {2}${command} `, 'm'));
  });

  for (const [command, flags] of Object.entries(flagsOf)) {
    it(`shows the help of ${command}, with every flag in it, wherever --help stands`, async (t) => {
      const cwd = await temporaryFolder(t);
      const { code, stdout, stderr } = await runCommand([command, '--help'], { cwd });
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, new RegExp(`^Usage: plant-store ${command} `));
      for (const flag of flags) assert.match(stdout, new RegExp(`^ {2}${flag} `, 'm'));
      assert.equal((await runCommand([command, '--bogus', 'create', '--help'], { cwd })).stdout, stdout);
      assert.deepEqual(await readdir(cwd), []);
    });
  }

  it('keeps every line of help within 110 columns', async (t) => {
    const cwd = await temporaryFolder(t);
    for (const args of [['--help'], ...Object.keys(flagsOf).map((command) => [command, '--help'])]) {
      for (const line of (await runCommand(args, { cwd })).stdout.split('\n')) assert.ok(line.length <= 110, line);
    }
  });

  it('shows the version of the package', async (t) => {
    const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    const finished = await runCommand(['--version'], { cwd: await temporaryFolder(t) });
    assert.deepEqual(finished, { code: 0, stdout: `${version}\n`, stderr: '' });
  });

  const misuses: [string[], string][] = [
    [[], 'A command is missing (see plant-store --help).'],
    [['plant'], "There is no command 'plant' (see plant-store --help)."],
    [['constructor'], "There is no command 'constructor' (see plant-store --help)."],
    [['toString', '--help'], "There is no command 'toString' (see plant-store --help)."],
    [['--port', '1'], "There is no command '--port' (see plant-store --help)."],
    [['serve', 'now'], "Unexpected argument 'now'."],
    [['serve', '--', '--help'], "Unexpected argument '--help'."],
    [['serve', '--bogus'], "Unknown option '--bogus'."],
    [['serve', '-p', '1'], "Unknown option '-p'."],
    [['serve', '--port'], "Option '--port <value>' argument missing."],
    [['serve', '--port', '--host'], "Option '--port' argument is ambiguous."],
    [['serve', '--port', '65536'], "--port must be 0 to 65535, not '65536'."],
    [['serve', '--port', '0x10'], "--port must be 0 to 65535, not '0x10'."],
    [['serve', '--port=-1'], "--port must be 0 to 65535, not '-1'."],
    [['serve', '--port='], '--port must not be empty.'],
    [['serve', '--log', 'xml'], "--log must be json, pretty or off, not 'xml'."],
    [['serve', '--log='], '--log must not be empty.'],
    [
      ['serve', '--storage', 'mongodb:x'],
      "--storage must be 'memory', 'sqlite:FILE' or 'postgres://…', not 'mongodb:x'.",
    ],
    [['serve', '--storage', 'sqlite:'], "--storage must be 'memory', 'sqlite:FILE' or 'postgres://…', not 'sqlite:'."],
    [
      ['serve', '--storage', 'sqlite::memory:'],
      "--storage must be 'memory', 'sqlite:FILE' or 'postgres://…', not 'sqlite::memory:'.",
    ],
    [['copy'], 'copy needs --from STORAGE.'],
    [['copy', '--from', 'sqlite:a.db'], 'copy needs --to STORAGE.'],
    [['copy', '--from', 'sqlite:a.db', '--to='], 'copy needs --to STORAGE.'],
    [
      ['copy', '--from', 'memory', '--to', 'sqlite:a.db'],
      "--from must not be 'memory', which is empty before the command and gone after it.",
    ],
    [['copy', '--from', 'sqlite:a.db', '--to', 'sqlite:./a.db'], '--from and --to must not be the same storage.'],
    [
      ['copy', '--from', 'mongodb:x', '--to', 'sqlite:a.db'],
      "--from must be 'memory', 'sqlite:FILE' or 'postgres://…', not 'mongodb:x'.",
    ],
    [
      ['export', '--storage', 'memory'],
      "--storage must not be 'memory', which is empty before the command and gone after it.",
    ],
    [['export', 'plants.ndjson'], "Unexpected argument 'plants.ndjson'."],
    [
      ['import', '--storage', 'memory'],
      "--storage must not be 'memory', which is empty before the command and gone after it.",
    ],
    [['import', '--strict=yes'], "Option '--strict' does not take an argument."],
    [['backup'], 'backup needs the TARGET, a file that is to be made.'],
    [['backup', 'a.db', 'b.db'], "Unexpected argument 'b.db'."],
    [['backup', '--storage', 'memory', 'a.db'], "--storage must be 'sqlite:FILE' for a backup."],
    // An empty address would mean all of them.
    [['serve', '--port=0', '--storage=memory', '--host='], '--host must not be empty.'],
    [['serve', '--port=0', '--storage=memory', '--tokens='], '--tokens must not be empty.'],
  ];
  for (const [args, message] of misuses) {
    it(`exits with 2 and one sentence, and makes no file: ${JSON.stringify(args.join(' '))}`, async (t) => {
      const cwd = await temporaryFolder(t);
      const finished = await runCommand(args, { cwd });
      assert.deepEqual(finished, { code: 2, stdout: '', stderr: `plant-store: ${message}\n` });
      assert.deepEqual(await readdir(cwd), []);
    });
  }
});

describe('run', () => {
  it('refuses a user that no storage can hold', async (t) => {
    const path = join(await temporaryFolder(t), 'tokens.json');
    // No process can be given such an argument, but a caller of run() can.
    const code = `import { run } from '${sourceOf('run.ts')}';
      process.exitCode = await run(['token', 'create', '\\ud800', '--tokens', process.argv[1]]);`;
    const finished = await runNode([tsx, sourceOf('silence-sqlite-warning.ts')], code, path);
    assert.deepEqual(finished, {
      code: 2,
      stdout: '',
      stderr: `plant-store: USER is invalid: ${errorTable.invalid_user.message}\n`,
    });
    assert.ok(!existsSync(path));
  });
});

describe('require-node', { concurrency: 4 }, () => {
  const runOn = (node: string, sqlite: string | undefined): Promise<Finished> => {
    const versions = JSON.stringify({ node, sqlite });
    const code = `const { sqlite, ...others } = process.versions;
      Object.defineProperty(process, 'versions', { value: { ...others, ...${versions} } });
      Object.defineProperty(process, 'version', { value: 'v${node}' });`;
    const older = `data:text/javascript,${encodeURIComponent(code)}`;
    return runNode([tsx, older, sourceOf('require-node.ts')], 'console.log("went on")');
  };

  for (const [node, sqlite] of [
    ['18.20.8', undefined],
    ['20.20.2', undefined],
    ['22.22.2', '3.51.2'],
    ['24.14.1', '3.51.2'],
  ] as const) {
    it(`stops on Node ${node} with exit code 1 and one sentence`, async () => {
      const { code, stdout, stderr } = await runOn(node, sqlite);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(
        stderr,
        /^plant-store needs Node\.js 22\.22\.3 or a later 22, [^\n]*: install a newer Node\.js, .*\.\n$/,
      );
      const found = sqlite === undefined ? `this is Node.js ${node}` : `this is Node.js ${node} with SQLite ${sqlite},`;
      assert.ok(stderr.includes(found), stderr);
    });
  }

  for (const [node, sqlite] of [
    ['22.22.3', '3.51.3'],
    ['24.15.0', '3.51.3'],
    ['100.0.0', '3.100.0'],
  ] as const) {
    it(`goes on with Node ${node}`, async () => {
      assert.deepEqual(await runOn(node, sqlite), { code: 0, stdout: 'went on\n', stderr: '' });
    });
  }

  it('names the versions that package.json requires', async () => {
    const { engines } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
      engines: unknown;
    };
    assert.deepEqual(engines, { node: '^22.22.3 || ^24.15.0 || >=26.0.0' });
    assert.match(
      (await runOn('20.20.2', undefined)).stderr,
      / 22\.22\.3 or a later 22, 24\.15\.0 or a later 24, or 26 or newer,/,
    );
  });
});

describe('silence-sqlite-warning', () => {
  it('keeps back that one warning and no other', async () => {
    const code = `const type = 'ExperimentalWarning';
      process.emitWarning('SQLite is an experimental feature and might change at any time', type);
      process.emitWarning('Watch out', type);`;
    const { stderr } = await runNode([tsx, sourceOf('silence-sqlite-warning.ts')], code);
    assert.match(stderr, /ExperimentalWarning: Watch out/);
    assert.doesNotMatch(stderr, /SQLite/);
  });
});
