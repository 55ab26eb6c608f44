import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import { flagsOf, readCommandLine, UsageError, variablesOf } from '../../src/cli/command-line.ts';
import type { CommandName, FlagName } from '../../src/cli/command-line.ts';
import { loadOptional } from '../../src/cli/package.ts';
import { commands, flags } from '../../src/cli/table.ts';
import type { Command } from '../../src/cli/table.ts';
import manifest from '../../package.json' with { type: 'json' };
import { callCommand } from '../support/call-command.ts';
import { runCommand } from '../support/command-line.ts';
import { commandEnvironment, runProgram } from '../support/run-program.ts';
import { main } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

it('plant-store --help › names every command, and their help names their flags and variables', async () => {
  const { code, stdout, stderr } = await callCommand(['--help'], { cwd: '/' });
  assert.deepEqual([code, stderr], [0, '']);
  // Without a command, the help is printed as an error message.
  assert.deepEqual(await callCommand([], { cwd: '/' }), { code: 2, stdout: '', stderr: stdout });
  for (const name of Object.keys(commands) as CommandName[]) {
    assert.match(stdout, new RegExp(`^ {2}${name} `, 'm'));
    const words = name.split(' ');
    const help = await callCommand([...words, '--help'], { cwd: '/' });
    assert.equal(help.code, 0);
    for (const part of flagsOf(name).flatMap((flag) => [`\n  --${flag} `, ...variablesOf(flag)])) {
      assert.ok(help.stdout.includes(part), part);
    }
    assert.ok(help.stdout.split('\n').every((line) => line.length <= 80));
    assert.deepEqual(await callCommand([...words, '--bogus', 'x', '-h'], { cwd: '/' }), help);
  }
  const tokenHelp = await callCommand(['token', '-h'], { cwd: '/' });
  assert.equal(tokenHelp.stdout.match(/^Usage: plant-store token (create|list|revoke) /gm)?.length, 3);
});

it('plant-store --version › prints the version of the package, and the commit if it was built', async () => {
  const stdout = `${manifest.version} (commit unknown: not built, or built without git)\n`;
  for (const flag of ['--version', '-v']) {
    assert.deepEqual(await callCommand([flag], { cwd: '/' }), { code: 0, stdout, stderr: '' });
  }
});

it('plant-store process › reads its arguments and sets the exit code', async (t) => {
  const cwd = await temporaryFolder(t);
  assert.equal((await runCommand(['serv'], { cwd })).code, 2);
  const created = await runCommand(['token', 'create', '--', '--help'], { cwd });
  assert.deepEqual([created.code, existsSync(join(cwd, 'tokens.json'))], [0, true]);
});

it('plant-store on an unsupported version of Node.js › exits with 2 and one sentence', async () => {
  // The process claims to be another version of Node.js.
  const pretend = `const { sqlite, ...others } = process.versions;
    Object.defineProperty(process, 'versions', { value: { ...others, node: '20.20.2' } });
    Object.defineProperty(process, 'version', { value: 'v20.20.2' });`;
  const imports = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`];
  const args = [...imports, main, '--version'];
  const { code, stdout, stderr } = await runProgram(process.execPath, args);
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, /^plant-store needs Node\.js 22\.22\.3 [^\n]*\bNode\.js 20\.20\.2\b[^\n]*\n$/);
});

it('loadOptional › throws a UsageError that says how to install the package', () => {
  const name = 'none';
  const load = (): string => loadOptional(name, '--docs', (require) => require.resolve(name));
  assert.throws(load, (error) => error instanceof UsageError && /^--docs .* npm install none,/.test(error.message));
});

function setEnvironment(t: TestContext, variables: Record<string, string>): void {
  const { env } = process;
  process.env = variables;
  t.after(() => {
    process.env = env;
  });
}

it('readCommandLine › warns of each unknown variable, but not of those of a Kubernetes service', (t) => {
  const known = (Object.keys(flags) as FlagName[]).flatMap(variablesOf);
  const kubernetes = ['PLANT_STORE_SERVICE_PORT_HTTP', 'PLANT_STORE_PORT_80_TCP_ADDR'];
  const names = [...known, ...kubernetes, 'PLANT_STORE_STORGE'];
  setEnvironment(t, Object.fromEntries(names.map((name) => [name, 'secret'])));
  const [warning = '', ...others] = readCommandLine('export', []).warnings;
  assert.match(warning, /PLANT_STORE_STORGE/);
  assert.doesNotMatch(warning, /secret/);
  assert.deepEqual(others, []);
});

it('readCommandLine › warns if a variable does not count, and says why', (t) => {
  const [own, platform, ignored] = ['memory', 'postgres://ada:sesame@localhost', 'tcp://10.0.0.7:80'];
  setEnvironment(t, {});
  for (const { env, args = [], expected = [] } of [
    { env: { PLANT_STORE_STORAGE: own, DATABASE_URL: platform }, expected: [/PLANT_STORE_STORAGE .*DATABASE_URL/] },
    { env: { PLANT_STORE_STORAGE: own, DATABASE_URL: platform }, args: ['--storage', own] },
    { env: { PLANT_STORE_STORAGE: own, DATABASE_URL: own } },
    {
      env: { PLANT_STORE_ADMIN_PORT: ignored, PLANT_STORE_HOST: '' },
      expected: [/PLANT_STORE_ADMIN_PORT .*Kubernetes/],
    },
  ]) {
    process.env = env;
    const { warnings } = readCommandLine('serve', args);
    assert.equal(warnings.length, expected.length);
    for (const [n, pattern] of expected.entries()) assert.match(warnings[n] ?? '', pattern);
    assert.ok(!warnings.join('').includes('sesame'));
  }
});

it('readCommandLine › reads the flag, PLANT_STORE_…, the variable of a platform or the default, in this order', (t) => {
  setEnvironment(t, { PLANT_STORE_STORAGE: 'memory', DATABASE_URL: 'postgres://localhost' });
  const storage = (...args: string[]): unknown => readCommandLine('export', args).settings.storage;
  assert.deepEqual(storage('--storage', 'sqlite:a.db'), { value: 'sqlite:a.db', source: '--storage' });
  assert.deepEqual(storage(), { value: 'memory', source: 'PLANT_STORE_STORAGE' });
  process.env['PLANT_STORE_STORAGE'] = '';
  assert.deepEqual(storage(), { value: 'postgres://localhost', source: 'DATABASE_URL' });
  process.env['DATABASE_URL'] = '';
  assert.deepEqual(storage(), { value: 'sqlite:plants.db', source: '--storage' });
  // HOST and the address of a Kubernetes service are ignored.
  process.env = { HOST: 'my-laptop', PLANT_STORE_PORT: 'tcp://10.0.0.7:80', PORT: '8080', PLANT_STORE_DOCS: '1' };
  const { host, port, docs, create } = readCommandLine('serve', ['--create']).settings;
  assert.equal(host.value, '127.0.0.1');
  assert.deepEqual(port, { value: 8080, source: 'PORT' });
  assert.deepEqual([docs, create.value], [{ value: true, source: 'PLANT_STORE_DOCS' }, true]);
});

it('readCommandLine › refuses text that is not clean in every operand, flag and variable, and names the place', (t) => {
  const refuse = (name: CommandName, args: string[], place: string): void => {
    assert.throws(
      () => readCommandLine(name, args),
      (error) => error instanceof UsageError && error.message.startsWith(`${place} `),
    );
  };
  setEnvironment(t, {});
  for (const text of ['jos\uFFFD', '\ud800', 'a\u0000', 'plants.db\r', '\u001b[31m', ' a', 'a\u00a0', '\uFEFFa']) {
    for (const name of Object.keys(commands) as CommandName[]) {
      const { operand }: Command = commands[name];
      const required = [...(operand === undefined ? [] : ['x']), ...(name === 'copy' ? ['--from=a', '--to=b'] : [])];
      process.env = {};
      if (operand !== undefined) refuse(name, ['--', text], operand);
      for (const flag of flagsOf(name).filter((each) => 'value' in flags[each])) {
        refuse(name, [...required, `--${flag}=${text}`], `--${flag}`);
      }
      for (const variable of flagsOf(name).flatMap(variablesOf)) {
        process.env = { [variable]: text };
        refuse(name, required, variable);
      }
    }
  }
});

it('plant-store process › refuses an argument and a variable that are not UTF-8, and creates no file', async (t) => {
  const cwd = await temporaryFolder(t);
  const program = `"${process.execPath}" "${main}"`;
  const script = `${program} token create "$(printf 'jos\\351')"; echo $?
    PLANT_STORE_STORAGE="sqlite:$(printf 'caf\\351').db" ${program} import; echo $?`;
  const { stdout, stderr } = await runProgram('sh', ['-c', script], { cwd, env: commandEnvironment() });
  assert.equal(stdout, '2\n2\n');
  assert.match(stderr, /^plant-store: USER [^\n]*UTF-8[^\n]*\nplant-store: PLANT_STORE_STORAGE [^\n]*UTF-8[^\n]*\n$/);
  assert.deepEqual(await readdir(cwd), []);
});

/** Invalid command lines, separated by spaces, each with a key word of its message. */
const misuses: Readonly<Record<string, string>> = {
  serv: 'serve, token',
  'serve -- --help': 'too many arguments',
  'serve --port': '--port',
  'serve --port 65536': '65535',
  'serve --port 0x10': '65535',
  'serve --log-level debug': 'error',
  // The arguments of a wrong command line can contain a password.
  'postgres://ada:sesame@localhost/plants': 'serve, token',
  'import postgres://ada:sesame@localhost/plants': 'too many arguments',
  'serve --port postgres://ada:sesame@localhost/plants': '65535',
  'serve --log postgres://ada:sesame@localhost/plants': 'pretty',
  // Node.js would listen on all addresses if the host were empty.
  'serve --host=': 'empty',
  'serve --storage data/plants.db': 'write sqlite:data/plants.db.',
  'serve --base-path /garden/': '--base-path',
  'serve --admin-host 127.0.0.1': '--admin-port',
  'serve --cors-origin app.example.com': '--cors-origin',
  copy: '--from STORAGE is required',
  'copy --from sqlite:a.db': '--to STORAGE is required',
  'copy --from memory --to sqlite:a.db': '--from',
  'export plants.ndjson': 'too many arguments',
  backup: 'TARGET',
  'backup --storage memory a.db': 'sqlite:FILE',
  restore: 'BACKUP',
  'export --storage sqlite:': 'sqlite:FILE',
  'export --storage sqlite::memory:': 'sqlite:FILE',
  'export --storage sqlite://plants.db': 'sqlite:FILE',
  'export --storage mongodb://ada:sesame@localhost': 'sqlite:FILE',
  'export --storage sqlite:x?mode=ro': 'commitThread=true',
  'export --storage postgres://ada:sesame@localhost:port/plants': 'Invalid URL',
  'export --storage postgres://ada:sesame@localhost/plants?sslrootcert=none.pem': 'none.pem',
  'export --storage postgres://ada:sesame@localhost/plants?max=many': 'max',
  'export --storage postgres://ada:sesame@localhost/plants?max=0x10': 'max',
  'export --storage postgres://ada:sesame@localhost/plants?max=0': 'max',
  'export --storage postgres://ada:sesame@localhost/plants?schema=': 'schema',
  // pg would take a part of the password for the host.
  'export --storage postgres://ada:sesame@sesame@localhost/plants': '%40',
  'export --storage postgres://ada:sesame@/sesame@localhost/plants': '%40',
  'export --storage postgres://ada:sesame/x@localhost/plants': '%40',
  'export --storage postgres://ada:sesame?x@localhost/plants': '%40',
  'export --storage postgres://ada:sesame#x@localhost/plants': '%40',
  token: 'token create, token list, token revoke',
  'token create': 'USER',
  'token create \ud800': 'USER',
  'token create ada --scope plants:admin': '--scope must be plants:read',
  'token create ada --expires-in=0d': '30d',
  'token create ada --expires-in=1.5d': '30d',
  'token create ada --expires-in=99999999999d': '30d',
  'token revoke': 'ID',
};

it('plant-store with invalid arguments › exits with 2 and one sentence without secrets, and creates no files', async (t) => {
  const cwd = await temporaryFolder(t);
  for (const [args, keyword] of Object.entries(misuses)) {
    const { code, stdout, stderr } = await callCommand(args.split(' '), { cwd });
    assert.deepEqual([code, stdout], [2, ''], args);
    assert.match(stderr, /^plant-store: [^\n]*\.\n$/);
    assert.ok(stderr.includes(keyword), `${args}: ${stderr}`);
    assert.ok(!stderr.includes('sesame'), stderr);
  }
  assert.deepEqual(await readdir(cwd), []);
});
