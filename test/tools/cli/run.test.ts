import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runCommand } from '../../support/command-line.ts';
import { evalArgs, runProgram } from '../../support/run-program.ts';
import { sourceUrl } from '../../support/sources.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { errorTable } from '../../../src/index.ts';

describe('plant-store', { concurrency: 4 }, () => {
  const flagsOf = {
    serve: ['--host', '--port', '--storage', '--tokens', '--base-path', '--log', '--docs', '--help'],
    token: ['--scope', '--expires-in', '--tokens', '--help'],
    copy: ['--from', '--to', '--help'],
    export: ['--storage', '--help'],
    import: ['--storage', '--strict', '--help'],
    backup: ['--storage', '--help'],
    check: ['--token', '--read-only-token', '--concurrent', '--clients', '--operations', '--json', '--help'],
  };

  it('prints help with every command', async (t) => {
    const { code, stdout, stderr } = await runCommand(['--help'], { cwd: await temporaryFolder(t) });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^Usage: plant-store COMMAND/);
    for (const name of [...Object.keys(flagsOf), 'help', 'version']) {
      assert.match(stdout, new RegExp(`^ {2}${name} `, 'm'));
    }
    for (const flag of ['-h', '--help']) assert.equal((await runCommand([flag], { cwd: '/' })).stdout, stdout);
  });

  for (const [command, flags] of Object.entries(flagsOf)) {
    it(`prints the help of ${command} with every flag, at any position of --help`, async (t) => {
      const cwd = await temporaryFolder(t);
      const { code, stdout, stderr } = await runCommand([command, '--help'], { cwd });
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, new RegExp(`^Usage: plant-store ${command} `));
      for (const flag of flags) assert.match(stdout, new RegExp(`^ {2}(?:-h, )?${flag} `, 'm'));
      for (const args of [
        [command, '--bogus', 'create', '--help'],
        [command, '-h'],
        ['help', command],
      ]) {
        assert.deepEqual(await runCommand(args, { cwd }), { code: 0, stdout, stderr: '' });
      }
      assert.deepEqual(await readdir(cwd), []);
    });
  }

  it('prints help in lines of at most 80 columns', async (t) => {
    const cwd = await temporaryFolder(t);
    for (const args of [['--help'], ...Object.keys(flagsOf).map((command) => [command, '--help'])]) {
      for (const line of (await runCommand(args, { cwd })).stdout.split('\n')) assert.ok(line.length <= 80, line);
    }
  });

  it('prints the version of the package', async (t) => {
    const manifest = await readFile(new URL('../../../package.json', import.meta.url), 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    const cwd = await temporaryFolder(t);
    for (const args of [['--version'], ['-v'], ['version']]) {
      assert.deepEqual(await runCommand(args, { cwd }), { code: 0, stdout: `${version}\n`, stderr: '' });
    }
  });

  it('without arguments, prints the help to standard error and exits with 2', async (t) => {
    const cwd = await temporaryFolder(t);
    const { stdout: help } = await runCommand(['help'], { cwd });
    assert.deepEqual(await runCommand([], { cwd }), { code: 2, stdout: '', stderr: help });
  });

  const misuses: [string[], string][] = [
    [['plant'], "There is no command 'plant'. See plant-store --help."],
    [['serv'], "There is no command 'serv'. Did you mean 'serve'?"],
    [['Export'], "There is no command 'Export'. Did you mean 'export'?"],
    [['hlep'], "There is no command 'hlep'. Did you mean 'help'?"],
    [['help', 'serv'], "There is no command 'serv'. Did you mean 'serve'?"],
    [['constructor'], "There is no command 'constructor'. See plant-store --help."],
    [['toString', '--help'], "There is no command 'toString'. See plant-store --help."],
    [['--port', '1'], "Unknown option '--port'. See plant-store --help."],
    [['--versoin'], "Unknown option '--versoin'. Did you mean '--version'?"],
    [['serve', 'now'], "Unexpected argument 'now'. See plant-store serve --help."],
    [['serve', '--', '--help'], "Unexpected argument '--help'. See plant-store serve --help."],
    [['serve', '--bogus'], "Unknown option '--bogus'. See plant-store serve --help."],
    [['serve', '--prot', '1'], "Unknown option '--prot'. Did you mean '--port'?"],
    [['serve', '--stor=memory'], "Unknown option '--stor'. Did you mean '--storage'?"],
    [['serve', '--halp'], "Unknown option '--halp'. Did you mean '--help'?"],
    [['serve', '-p', '1'], "Unknown option '-p'. See plant-store serve --help."],
    [['serve', '--port'], "Option '--port <value>' argument missing. See plant-store serve --help."],
    [['serve', '--port', '--host'], "Option '--port' argument is ambiguous. See plant-store serve --help."],
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
    [
      ['serve', '--storage', 'plants.db'],
      "--storage must be 'memory', 'sqlite:FILE' or 'postgres://…', not 'plants.db'. Did you mean 'sqlite:plants.db'?",
    ],
    [['copy'], 'copy requires --from STORAGE, such as --from sqlite:plants.db.'],
    [['copy', '--from', 'sqlite:a.db'], 'copy requires --to STORAGE, such as --to sqlite:plants.db.'],
    [['copy', '--from', 'sqlite:a.db', '--to='], 'copy requires --to STORAGE, such as --to sqlite:plants.db.'],
    [
      ['copy', '--from', 'memory', '--to', 'sqlite:a.db'],
      "--from must not be 'memory', which is empty before the command and gone after it. Name a file or a database.",
    ],
    [['copy', '--from', 'sqlite:a.db', '--to', 'sqlite:./a.db'], '--from and --to must not be the same storage.'],
    [
      ['copy', '--from', 'mongodb:x', '--to', 'sqlite:a.db'],
      "--from must be 'memory', 'sqlite:FILE' or 'postgres://…', not 'mongodb:x'.",
    ],
    [
      ['export', '--storage', 'memory'],
      "--storage must not be 'memory', which is empty before the command and gone after it. Name a file or a database.",
    ],
    [['export', 'plants.ndjson'], "Unexpected argument 'plants.ndjson'. See plant-store export --help."],
    [
      ['import', '--storage', 'memory'],
      "--storage must not be 'memory', which is empty before the command and gone after it. Name a file or a database.",
    ],
    [['import', '--strict=yes'], "Option '--strict' does not take an argument. See plant-store import --help."],
    [['backup'], 'backup requires TARGET, the name of the new file. See plant-store backup --help.'],
    [['backup', 'a.db', 'b.db'], "Unexpected argument 'b.db'. See plant-store backup --help."],
    [
      ['backup', '--storage', 'memory', 'a.db'],
      "--storage must be 'sqlite:FILE' for a backup. Back up PostgreSQL with pg_dump.",
    ],
    // An empty host would mean all addresses.
    [['serve', '--port=0', '--storage=memory', '--host='], '--host must not be empty.'],
    [['serve', '--port=0', '--storage=memory', '--tokens='], '--tokens must not be empty.'],
  ];
  for (const [args, message] of misuses) {
    it(`exits with 2 and one sentence, and creates no file: ${JSON.stringify(args.join(' '))}`, async (t) => {
      const cwd = await temporaryFolder(t);
      const finished = await runCommand(args, { cwd });
      assert.deepEqual(finished, { code: 2, stdout: '', stderr: `plant-store: ${message}\n` });
      assert.deepEqual(await readdir(cwd), []);
    });
  }
});

describe('run', () => {
  it('rejects a user that no storage can hold', async (t) => {
    const path = join(await temporaryFolder(t), 'tokens.json');
    // A process cannot receive such an argument, but a caller of run() can pass one.
    const code = `import { run } from '${sourceUrl('tools/cli/run.ts')}';
      process.exitCode = await run(['token', 'create', '\\ud800', '--tokens', process.argv[1]]);`;
    const finished = await runProgram(
      process.execPath,
      evalArgs(code, [path], [sourceUrl('tools/cli/silence-sqlite-warning.ts')]),
    );
    assert.deepEqual(finished, {
      code: 2,
      stdout: '',
      stderr: `plant-store: USER is invalid: ${errorTable.invalid_user.message}\n`,
    });
    assert.ok(!existsSync(path));
  });
});
