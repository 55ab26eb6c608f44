import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import { loadOptional } from '../../src/cli/command-line.ts';
import { UsageError } from '../../src/cli/errors.ts';
import { commandNames, flagsOf, variablesOf } from '../../src/cli/table.ts';
import { readTokenFile } from '../../src/tokens/token-file.ts';
import manifest from '../../package.json' with { type: 'json' };
import { assertFails, callCommand } from '../support/call-command.ts';
import { runCommand } from '../support/command-line.ts';
import { commandEnvironment, runProgram } from '../support/run-program.ts';
import { main } from '../support/sources.ts';
import { createAll, rowOfPlants } from '../support/stored-plants.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { folderWithToken } from '../support/token-server.ts';

it('plant-store --help › lists every command, flag and variable, and --version prints the version', async () => {
  const { code, stdout, stderr } = await callCommand(['--help'], { cwd: '/' });
  assert.deepEqual([code, stderr], [0, '']);
  // Without a command, the help is printed as an error message.
  assert.deepEqual(await callCommand([], { cwd: '/' }), { code: 2, stdout: '', stderr: stdout });
  for (const name of commandNames) {
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
  const version = `${manifest.version} (commit unknown: not built, or built without git)\n`;
  for (const flag of ['--version', '-v']) {
    assert.deepEqual(await callCommand([flag], { cwd: '/' }), { code: 0, stdout: version, stderr: '' });
  }
});

it('loadOptional › throws a UsageError that says how to install the package', () => {
  assert.throws(
    () => loadOptional('none/x.js', '--docs'),
    (error) => error instanceof UsageError && /^--docs .* npm install none,/.test(error.message),
  );
});

it('plant-store › exits with 2 if an argument or a variable is not valid UTF-8', async (t) => {
  const cwd = await temporaryFolder(t);
  const program = `"${process.execPath}" "${main}"`;
  const script = `${program} token create "$(printf 'jos\\351')"; echo $?
    PLANT_STORE_STORAGE="sqlite:$(printf 'caf\\351').db" ${program} import; echo $?`;
  const { stdout, stderr } = await runProgram('sh', ['-c', script], { cwd, env: commandEnvironment() });
  assert.equal(stdout, '2\n2\n');
  assert.match(stderr, /^plant-store: USER [^\n]*UTF-8[^\n]*\nplant-store: PLANT_STORE_STORAGE [^\n]*UTF-8[^\n]*\n$/);
  assert.deepEqual(await readdir(cwd), []);
  assert.equal((await runCommand(['token', 'create', '--', '--help'], { cwd })).code, 0);
  assert.deepEqual(await readdir(cwd), ['tokens.json']);
});

/** Runs a command. Its standard output is a pipe without a reader, unless `redirection` redirects it. */
async function runWithout(cwd: string, command: string, redirection: string) {
  const args = ['-c', `read -r _; exec "$@" ${redirection}`, 'sh', process.execPath, main, ...command.split(' ')];
  const child = spawn('sh', args, { cwd, env: commandEnvironment() });
  child.stdout.destroy();
  await once(child.stdout, 'close');
  child.stdin.end('\n');
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit') as Promise<[number]>]);
  return { code, stderr };
}

const skip = existsSync('/dev/full') ? false : 'this system has no /dev/full';

it('plant-store commands › fail if their output is lost, and store no token', { skip }, async (t) => {
  const { cwd, tokens } = await folderWithToken(t);
  const kept = readTokenFile(tokens);
  await createAll(join(cwd, 'plants.db'), rowOfPlants('ada', 1));
  for (const { redirection, code, problem, commands } of [
    { redirection: '>/dev/full', code: 1, problem: /ENOSPC/, commands: ['token create b', 'token list'] },
    { redirection: '>/dev/full', code: 1, problem: /ENOSPC/, commands: ['export', '-h'] },
    { redirection: '>&-', code: 1, problem: /closed/, commands: ['token create b', 'export'] },
    // Programs that discard the output of a child process open the device to read and write.
    { redirection: '1<>/dev/null', code: 0, problem: /^$/, commands: ['-h', '-v', 'token list'] },
    { redirection: '', code: 141, problem: /^$/, commands: ['token create b', 'export'] },
    { redirection: '>/dev/null', code: 0, problem: /^Exported/, commands: ['export'] },
  ]) {
    for (const command of commands) {
      const ended = await runWithout(cwd, command, redirection);
      assert.equal(ended.code, code, `${command} ${redirection}: ${ended.stderr}`);
      assert.match(ended.stderr, problem);
      assert.ok(ended.stderr.split('\n').length <= 2, ended.stderr);
    }
  }
  assert.deepEqual(readTokenFile(tokens), kept);
});

const exportFrom = 'export --storage postgres://ada:sesame';

/** Invalid command lines, separated by spaces, each with a key word of its message. */
const misuses: Record<string, string> = {
  serv: "command 'serv'. The commands are serve, token",
  '--port 0 serve': 'command must come before',
  // The arguments of a wrong command line can contain a password.
  'postgres://ada:sesame@localhost/plants': 'serve, token',
  'import postgres://ada:sesame@localhost/plants': 'too many arguments',
  'import plants.ndjson': 'standard input, as in < plants.ndjson',
  'backup a.db b.db': 'too many arguments: remove b.db.',
  'serve --trusted-proxies -1': "'--trusted-proxies' argument is ambiguous. The options",
  'serve --port postgres://ada:sesame@localhost/plants': '65535',
  'serve --log postgres://ada:sesame@localhost/plants': 'pretty',
  'serve --storage data/plants.db': 'write sqlite:data/plants.db.',
  'serve --base-path /garden/': '"--base-path must be a path',
  'serve --admin-host 127.0.0.1': '--admin-port',
  'serve --cors-origin app.example.com': '"--cors-origin must be',
  'copy --from memory --to sqlite:a.db': '--from',
  'backup --storage memory a.db': 'sqlite:FILE',
  'backup --storage postgres://ada:sesame@localhost/plants a.db': 'pg_dump',
  'import --storage memory': 'sqlite:FILE',
  'export --storage sqlite:x?mode=ro': 'commitThread=true',
  [`${exportFrom}@localhost:port/plants`]: 'The port of --storage',
  [`${exportFrom}@localhost/plants?sslrootcert=none.pem`]: 'none.pem',
  [`${exportFrom}@localhost/plants?schema=`]: 'schema',
  token: 'token create, token list, token revoke',
  'token lst': "command 'token lst'",
  'token create ada --scope plants:admin': '--scope must be plants:read',
};
for (const wrong of ['memory', 'sqlite:', 'sqlite::memory:', 'sqlite://plants.db', 'mongodb://ada:sesame@localhost']) {
  misuses[`export --storage ${wrong}`] = 'sqlite:FILE';
}
for (const max of ['many', '0x10', '0']) misuses[`${exportFrom}@localhost/plants?max=${max}`] = 'max';
// pg would use a part of the password as the host.
for (const rest of ['@sesame', '@/sesame', '/x', '?x', '#x']) misuses[`${exportFrom}${rest}@localhost/plants`] = '%40';
for (const time of ['0d', '1.5d', '99999999999d']) misuses[`token create ada --expires-in=${time}`] = '30d';

it('plant-store with invalid arguments › exits with 2, and prints one sentence without secrets', async (t) => {
  const cwd = await temporaryFolder(t);
  for (const [args, keyword] of Object.entries(misuses)) {
    const { code, stdout, stderr } = await callCommand(args.split(' '), { cwd });
    assert.deepEqual([code, stdout], [2, ''], args);
    assert.match(stderr, /^(?:plant-store: |\{"time":)[^\n]*\.(?:"})?\n$/);
    assert.ok(stderr.includes(keyword), `${args}: ${stderr}`);
    assert.ok(!stderr.includes('sesame'), stderr);
  }
  await assertFails('serve --log json --prot 0', { cwd }, /^\{"time":.*--prot/, 2);
  assert.deepEqual(await readdir(cwd), []);
});
