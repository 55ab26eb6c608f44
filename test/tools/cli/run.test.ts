import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { errorTable } from '../../../src/index.ts';
import { callCommand } from '../../support/call-command.ts';
import { runCommand } from '../../support/command-line.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const flagsOf = {
  serve: ['--host', '--port', '--storage', '--tokens', '--base-path', '--log', '--docs', '--help'],
  token: ['--scope', '--expires-in', '--tokens', '--help'],
  copy: ['--from', '--to', '--help'],
  export: ['--storage', '--help'],
  import: ['--storage', '--strict', '--help'],
  backup: ['--storage', '--help'],
  check: ['--token', '--read-only-token', '--concurrent', '--clients', '--operations', '--json', '--help'],
};

describe('plant-store', () => {
  it('prints help with every command, in lines of at most 80 columns', async () => {
    const { code, stdout, stderr } = await runCommand(['--help'], { cwd: '/' });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^Usage: plant-store COMMAND/);
    for (const name of [...Object.keys(flagsOf), 'help', 'version']) {
      assert.match(stdout, new RegExp(`^ {2}${name} `, 'm'));
    }
    for (const flag of ['-h', '--help', 'help']) {
      assert.equal((await callCommand([flag], { cwd: '/' })).stdout, stdout);
    }
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line);
    // Without a command, the help is an error message.
    assert.deepEqual(await callCommand([], { cwd: '/' }), { code: 2, stdout: '', stderr: stdout });
  });

  for (const [command, flags] of Object.entries(flagsOf)) {
    it(`prints the help of ${command} with every flag, at any position of --help`, async (t) => {
      const cwd = await temporaryFolder(t);
      const { code, stdout, stderr } = await callCommand([command, '--help'], { cwd });
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, new RegExp(`^Usage: plant-store ${command} `));
      for (const flag of flags) assert.match(stdout, new RegExp(`^ {2}(?:-h, )?${flag} `, 'm'));
      for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line);
      for (const args of [
        [command, '--bogus', 'create', '--help'],
        [command, '-h'],
        ['help', command],
      ]) {
        assert.deepEqual(await callCommand(args, { cwd }), { code: 0, stdout, stderr: '' });
      }
      assert.deepEqual(await readdir(cwd), []);
    });
  }

  it('prints the version of the package', async () => {
    const manifest = await readFile(new URL('../../../package.json', import.meta.url), 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    for (const flag of ['--version', '-v', 'version']) {
      assert.deepEqual(await callCommand([flag], { cwd: '/' }), { code: 0, stdout: `${version}\n`, stderr: '' });
    }
  });

  const forms = "must be 'memory', 'sqlite:FILE' or 'postgres://…', not";
  const notMemory =
    "must not be 'memory', which is empty before the command and gone after it. Name a file or a database.";
  const misuses: [args: string, message: string][] = [
    ['plant', "There is no command 'plant'. See plant-store --help."],
    ['serv', "There is no command 'serv'. Did you mean 'serve'?"],
    ['Export', "There is no command 'Export'. Did you mean 'export'?"],
    ['hlep', "There is no command 'hlep'. Did you mean 'help'?"],
    ['help serv', "There is no command 'serv'. Did you mean 'serve'?"],
    ['constructor', "There is no command 'constructor'. See plant-store --help."],
    ['toString --help', "There is no command 'toString'. See plant-store --help."],
    ['--port 1', "Unknown option '--port'. See plant-store --help."],
    ['--versoin', "Unknown option '--versoin'. Did you mean '--version'?"],
    ['serve now', "Unexpected argument 'now'. See plant-store serve --help."],
    ['serve -- --help', "Unexpected argument '--help'. See plant-store serve --help."],
    ['serve --bogus', "Unknown option '--bogus'. See plant-store serve --help."],
    ['serve --prot 1', "Unknown option '--prot'. Did you mean '--port'?"],
    ['serve --stor=memory', "Unknown option '--stor'. Did you mean '--storage'?"],
    ['serve --halp', "Unknown option '--halp'. Did you mean '--help'?"],
    ['serve -p 1', "Unknown option '-p'. See plant-store serve --help."],
    ['serve --port', "Option '--port <value>' argument missing. See plant-store serve --help."],
    ['serve --port --host', "Option '--port' argument is ambiguous. See plant-store serve --help."],
    ['serve --port 65536', "--port must be 0 to 65535, not '65536'."],
    ['serve --port 0x10', "--port must be 0 to 65535, not '0x10'."],
    ['serve --port=-1', "--port must be 0 to 65535, not '-1'."],
    ['serve --port=', '--port must not be empty.'],
    ['serve --log xml', "--log must be json, pretty or off, not 'xml'."],
    ['serve --log=', '--log must not be empty.'],
    // An empty host would mean all addresses.
    ['serve --port=0 --storage=memory --host=', '--host must not be empty.'],
    ['serve --port=0 --storage=memory --tokens=', '--tokens must not be empty.'],
    ['serve --trusted-proxies -1', "Option '--trusted-proxies' argument is ambiguous. See plant-store serve --help."],
    ['serve --trusted-proxies=-1', "--trusted-proxies must be 0 to 99, not '-1'."],
    ['serve --admin-host ::1', '--admin-host has no effect without --admin-port.'],
    [
      'serve --base-path /garden/',
      '--base-path must be a path that begins with a slash and does not end with one, such as /garden.',
    ],
    [
      'serve --cors-origin app.example.com',
      "--cors-origin must be '*' or origins such as https://app.example.com, in lower case and without a path or default port.",
    ],
    ['serve --storage mongodb:x', `--storage ${forms} 'mongodb:x'.`],
    ['serve --storage plants.db', `--storage ${forms} 'plants.db'. Did you mean 'sqlite:plants.db'?`],
    ['serve --storage sqlite:a?commitThread=yes', "commitThread in --storage must be true or false, not 'yes'."],
    ['copy', 'copy requires --from STORAGE, such as --from sqlite:plants.db.'],
    ['copy --from sqlite:a.db', 'copy requires --to STORAGE, such as --to sqlite:plants.db.'],
    ['copy --from sqlite:a.db --to=', 'copy requires --to STORAGE, such as --to sqlite:plants.db.'],
    ['copy --from memory --to sqlite:a.db', `--from ${notMemory}`],
    ['copy --from sqlite:a.db --to sqlite:./a.db', '--from and --to must not be the same storage.'],
    ['copy --from mongodb:x --to sqlite:a.db', `--from ${forms} 'mongodb:x'.`],
    ['export --storage memory', `--storage ${notMemory}`],
    ['export plants.ndjson', "Unexpected argument 'plants.ndjson'. See plant-store export --help."],
    ['import --storage memory', `--storage ${notMemory}`],
    ['import --strict=yes', "Option '--strict' does not take an argument. See plant-store import --help."],
    ['backup', 'backup requires TARGET, the name of the new file. See plant-store backup --help.'],
    ['backup a.db b.db', "Unexpected argument 'b.db'. See plant-store backup --help."],
    ['backup --storage memory a.db', "--storage must be 'sqlite:FILE' for a backup. Back up PostgreSQL with pg_dump."],
    ['token create \ud800', `USER is invalid: ${errorTable.invalid_user.message}`],
  ];
  for (const [args, message] of misuses) {
    it(`exits with 2 and one sentence, and creates no file: ${args}`, async (t) => {
      const cwd = await temporaryFolder(t);
      const finished = await callCommand(args.split(' '), { cwd });
      assert.deepEqual(finished, { code: 2, stdout: '', stderr: `plant-store: ${message}\n` });
      assert.deepEqual(await readdir(cwd), []);
    });
  }

  it('passes its arguments and its exit code through the process', async (t) => {
    const cwd = await temporaryFolder(t);
    const stderr = "plant-store: There is no command 'serv'. Did you mean 'serve'?\n";
    assert.deepEqual(await runCommand(['serv'], { cwd }), { code: 2, stdout: '', stderr });
    const created = await runCommand(['token', 'create', '--', '--help'], { cwd });
    assert.deepEqual([created.code, existsSync(join(cwd, 'tokens.json'))], [0, true]);
  });
});
