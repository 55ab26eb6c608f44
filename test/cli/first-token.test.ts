import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readTokenFile } from '../../src/tokens/token-file.ts';
import { runCommand, startServer } from '../support/command-line.ts';
import type { RunningServer } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { occupyPort } from '../support/occupy-port.ts';
import { tsx } from '../support/run-script.ts';
import { hasProgram } from '../support/system-fault.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

function curlLine(server: RunningServer): string {
  const line = /^ +(curl .*)$/m.exec(server.stdout())?.[1];
  assert.ok(line, server.stdout());
  return line;
}

/** Pastes a line into a shell; its standard output. */
function paste(t: TestContext, line: string): string {
  // Not the whole environment: a proxy in it would not reach this machine's own addresses.
  const env = { PATH: process.env['PATH'] };
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { encoding: 'utf8', env });
  if (status === 127) t.diagnostic('NOT CHECKED that the printed line works: this machine has no curl');
  else assert.equal(status, 0, stderr);
  return status === 127 ? '[]' : stdout;
}

async function getPlants(url: string, token: string): Promise<number> {
  const response = await fetch(`${url}/plants`, { headers: { authorization: `Bearer ${token}` } });
  await response.text();
  return response.status;
}

describe('the first start of plant-store serve', { concurrency: 4 }, () => {
  it('writes a token for me to a file of its owner, and prints a curl line that works when it is pasted', async (t) => {
    const cwd = join(await temporaryFolder(t), "it's $HOME");
    await mkdir(cwd);
    const first = await startServer(t, [], { cwd });
    assert.match(first.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    const line = await eventually(() => curlLine(first));
    assert.equal(paste(t, `${line} --silent`), '[]');
    const file = join(cwd, 'first-token.txt');
    assert.match(await readFile(file, 'utf8'), /^pst_[0-9A-Za-z]{36}\n$/);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.ok(first.stdout().includes(`It is in ${file}, `));
    assert.doesNotMatch(first.stdout(), /pst_/);
    const token = (await readFile(file, 'utf8')).trimEnd();
    assert.deepEqual(
      readTokenFile(join(cwd, 'tokens.json')).map(({ user }) => user),
      ['me'],
    );
    assert.equal((await stat(join(cwd, 'tokens.json'))).mode & 0o777, 0o600);
    assert.equal((await stat(join(cwd, 'plants.db'))).mode & 0o777, 0o600);
    assert.equal(await first.stop(), 0);
    assert.ok(!first.stderr().includes(token));
    assert.equal(await readFile(join(cwd, 'tokens.json'), 'utf8').then((text) => text.includes(token)), false);

    await rm(file);
    const second = await startServer(t, [], { cwd });
    assert.equal(await getPlants(second.url, token), 200);
    assert.equal(await second.stop(), 0);
    assert.equal(second.stdout(), `Plant Store listening on ${second.url}\n`);
    assert.ok(!existsSync(file));
  });

  it('shows the token once on a terminal, with a curl line that works, and makes no file', async (t) => {
    if (!hasProgram(t, 'script')) return;
    const cwd = await temporaryFolder(t);
    const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
    const command = `exec '${process.execPath}' --import '${tsx}' '${main}' serve --port 0 --storage memory`;
    const args = ['--quiet', '--return', '--command', command, '/dev/null'];
    const child = spawn('script', args, { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
    const exited = once(child, 'exit') as Promise<[number | null]>;
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk.replaceAll('\r', '')));
    t.after(async () => {
      child.kill('SIGKILL');
      await exited;
    });
    const line = await eventually(() => /^ +(curl .*)\n/m.exec(stdout)?.[1] ?? assert.fail(stdout), 20_000);
    assert.equal(paste(t, `${line} --silent`), '[]');
    const [token = ''] = /pst_[0-9A-Za-z]{36}/.exec(line) ?? [];
    assert.equal(stdout.split(token).length - 1, 2, 'once to keep and once in the line');
    assert.deepEqual((await readdir(cwd)).sort(), ['tokens.json', 'tokens.json.lock']);
    // What Ctrl-C sends.
    child.stdin.write('\u0003');
    assert.deepEqual((await exited)[0], 0);
  });

  it('fails in one sentence if the file for the token exists, and leaves it as it is', async (t) => {
    const cwd = await temporaryFolder(t);
    const file = join(cwd, 'first-token.txt');
    await writeFile(file, 'mine');
    const { code, stdout, stderr } = await runCommand(['serve', '--port', '0', '--storage', 'memory'], { cwd });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^plant-store: The first token would be written to .*first-token\.txt, which exists: .*\n$/);
    assert.equal(await readFile(file, 'utf8'), 'mine');
    assert.deepEqual(await readdir(cwd), ['first-token.txt']);
  });

  it('prints a line for this machine where it listens on all addresses', async (t) => {
    const cwd = await temporaryFolder(t);
    const server = await startServer(t, ['--host', '0.0.0.0', '--storage', 'memory'], { cwd });
    assert.match(server.url, /^http:\/\/0\.0\.0\.0:\d+$/);
    const line = await eventually(() => curlLine(server));
    assert.match(line, /http:\/\/localhost:\d+\/plants/);
    assert.equal(paste(t, `${line} --silent`), '[]');
    assert.equal(await server.stop(), 0);
  });

  it('writes an IPv6 address in brackets', async (t) => {
    const cwd = await temporaryFolder(t);
    const isThere = await occupyPort(t, '::1').catch(() => undefined);
    if (isThere === undefined) {
      t.diagnostic('NOT CHECKED: this machine has no IPv6');
      return;
    }
    const server = await startServer(t, ['--host', '::1', '--storage', 'memory'], { cwd });
    assert.match(server.url, /^http:\/\/\[::1\]:\d+$/);
    assert.equal(paste(t, `${await eventually(() => curlLine(server))} --silent`), '[]');
  });

  it('leaves no token behind that nobody saw where the port is in use', async (t) => {
    const cwd = await temporaryFolder(t);
    const port = await occupyPort(t);
    const { code, stdout, stderr } = await runCommand(['serve', '--port', String(port)], { cwd });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, new RegExp(`^plant-store: .*EADDRINUSE.*127\\.0\\.0\\.1:${port}\\)\n$`));
    assert.ok(!existsSync(join(cwd, 'tokens.json')));
  });

  it('fails in one sentence if the folder of the tokens file does not exist, and makes nothing', async (t) => {
    const cwd = await temporaryFolder(t);
    const { code, stdout, stderr } = await runCommand(['serve', '--port', '0', '--tokens', 'etc/tokens.json'], { cwd });
    assert.deepEqual([code, stdout], [1, '']);
    assert.equal(stderr, `plant-store: There is no folder ${join(cwd, 'etc')} for the tokens file.\n`);
    assert.deepEqual(await readdir(cwd), []);
  });

  it('ends with one sentence where the tokens file cannot be made', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeFile(join(cwd, 'file'), '');
    const args = ['serve', '--port', '0', '--storage', 'memory', '--tokens', 'file/tokens.json'];
    const { code, stdout, stderr } = await runCommand(args, { cwd });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^plant-store: .*file.*\n$/);
  });
});
