import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { issueToken } from '../../../src/tokens/issue.ts';
import { spawnCommand, startServer } from '../../support/command-line.ts';
import type { RunningServer } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { RawConnection } from '../../support/raw-http.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

interface Started {
  readonly server: RunningServer;
  readonly cwd: string;
  readonly token: string;
  readonly get: (target: string) => Promise<number>;
  readonly post: () => Promise<number>;
}

async function start(t: HasAfter, ...args: string[]): Promise<Started> {
  const cwd = await temporaryFolder(t);
  const { token } = issueToken(join(cwd, 'tokens.json'), { user: 'ada' });
  const server = await startServer(t, args, { cwd });
  const call = async (target: string, init: RequestInit = {}): Promise<number> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(server.url + target, { ...init, headers });
    await response.text();
    return response.status;
  };
  const post = (): Promise<number> => call('/plants', { method: 'POST', body: '{"id":1,"name":"Basil"}' });
  return { server, cwd, token, get: call, post };
}

type Line = Record<string, string | number>;

/** The lines of a JSON log; each must parse by itself. */
function linesOf(server: RunningServer): Line[] {
  const lines = server.stderr().split('\n');
  assert.equal(lines.pop(), '');
  return lines.map((line) => JSON.parse(line) as Line);
}

/** Runs some code with a Log; what it wrote to standard error. */
async function runLog(code: string): Promise<string> {
  const module = new URL('../../../src/cli/output/log.ts', import.meta.url).href;
  const script = `import { Log } from '${module}'; ${code}`;
  const args = ['--import', import.meta.resolve('tsx'), '--input-type=module', '--eval', script];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const [stderr, [exitCode]] = await Promise.all([text(child.stderr), exited]);
  assert.equal(exitCode, 0, stderr);
  return stderr;
}

describe('the log of plant-store serve', { concurrency: 4 }, () => {
  it('is in JSON, one line for each answer, with neither token nor query, where no terminal reads it', async (t) => {
    const { server, token, get, post } = await start(t, '--storage', 'memory');
    assert.equal(await post(), 200);
    assert.equal(await get(`/plants?limit=1&access_token=${token}`), 200);
    assert.equal(await get(`/nowhere/${'x'.repeat(1000)}?secret`), 404);
    await eventually(() => {
      assert.equal(linesOf(server).length, 3);
    });
    const lines = linesOf(server);
    for (const { time, ms, end } of lines) {
      assert.ok(Math.abs(Date.parse(String(time)) - Date.now()) < 60_000);
      assert.ok(Number(ms) >= 0 && Number(ms) < 60_000);
      assert.equal(end, undefined);
    }
    const names = ['level', 'message', 'method', 'route', 'pathLength', 'status'];
    const facts = lines.map((line) => names.map((name) => line[name]));
    assert.deepEqual(facts, [
      ['info', 'request', 'POST', '/plants', undefined, 200],
      ['info', 'request', 'GET', '/plants', undefined, 200],
      ['info', 'request', 'GET', undefined, 1009, 404],
    ]);
    assert.equal(await server.stop(), 0);
    assert.equal(linesOf(server).at(-1)?.['message'], 'SIGTERM: stopping');
    for (const secret of [token, token.slice(4, 34), 'limit', 'secret']) assert.ok(!server.stderr().includes(secret));
  });

  it('says where a client went away before its answer', async (t) => {
    const { server, token } = await start(t, '--storage', 'memory', '--log', 'json');
    const connection = await RawConnection.open(t, Number(new URL(server.url).port));
    const head = ['POST /plants HTTP/1.1', 'Host: x', `Authorization: Bearer ${token}`];
    const type = 'Content-Type: application/json';
    connection.send([...head, type, 'Expect: 100-continue', 'Content-Length: 9', '', ''].join('\r\n'));
    await connection.until(/100 Continue/);
    connection.socket.destroy();
    await eventually(() => {
      assert.equal(linesOf(server).length, 1);
    });
    const [line = {}] = linesOf(server);
    const { method, route, status, end } = line;
    assert.deepEqual([method, route, status, end], ['POST', '/plants', undefined, 'client gone']);
    assert.equal(await server.stop(), 0);
  });

  it('says what was refused as no HTTP', async (t) => {
    const { server } = await start(t, '--storage', 'memory', '--log', 'json');
    const connection = await RawConnection.open(t, Number(new URL(server.url).port));
    connection.send('garbage\r\n\r\n');
    await connection.untilClosed();
    await eventually(() => {
      assert.deepEqual(
        linesOf(server).map(({ level, message, code }) => [level, message, code]),
        [['info', 'refused', 'HPE_INVALID_METHOD']],
      );
    });
  });

  it('tells the faults of this side with their causes, of which the client hears nothing', async (t) => {
    const { server, cwd, token, post } = await start(t, '--log', 'json');
    const database = new DatabaseSync(join(cwd, 'plants.db'));
    database.exec('DROP TABLE plants');
    database.close();
    assert.equal(await post(), 503);
    // The probe of the storage may log the same fault.
    await eventually(() => {
      assert.ok(linesOf(server).some(({ message }) => message === 'request'));
    });
    const fault = linesOf(server).find(({ message }) => message === 'POST /plants failed');
    assert.ok(fault);
    const stacks =
      /^PlantStoreError: .*\n +at .*Caused by Error: no such table: plants \(code ERR_SQLITE_ERROR, errcode 1\)\n +at /s;
    assert.match(String(fault['error']), stacks);
    assert.equal(await server.stop(), 0);
    assert.ok(!server.stderr().includes(token));
  });

  it('reports what is wrong with the tokens file', async (t) => {
    const { server, cwd, get } = await start(t, '--storage', 'memory', '--log', 'json');
    await chmod(join(cwd, 'tokens.json'), 0o644);
    const warning = 'tokens.json can be accessed by other users of this machine: change its permissions (chmod 600).';
    await eventually(async () => {
      await get('/plants');
      assert.ok(linesOf(server).some(({ level, message }) => level === 'error' && message === warning));
    });
  });

  it('is for people with --log pretty', async (t) => {
    const { server, cwd, token, get } = await start(t, '--storage', 'memory', '--log', 'pretty');
    await chmod(join(cwd, 'tokens.json'), 0o644);
    await eventually(async () => {
      assert.equal(await get(`/plants?access_token=${token}`), 200);
      assert.match(server.stderr(), /^\d\d:\d\d:\d\d ERROR tokens\.json can be accessed by other users/m);
    });
    assert.equal(await server.stop(), 0);
    assert.match(server.stderr(), /^\d\d:\d\d:\d\d GET \/plants 200 [\d.]+ ms\n/m);
    assert.match(server.stderr(), /^\d\d:\d\d:\d\d SIGTERM: stopping\n$/m);
    assert.ok(!server.stderr().includes(token));
  });

  it('is silent with --log off', async (t) => {
    const { server, cwd, get } = await start(t, '--storage', 'memory', '--log', 'off');
    await chmod(join(cwd, 'tokens.json'), 0o644);
    assert.equal(await get('/plants'), 200);
    assert.equal(await server.stop(), 0);
    assert.equal(server.stderr(), '');
  });

  it('can lose its reader, and the service stays', async (t) => {
    const {
      server: { url },
      cwd,
      token,
    } = await start(t, '--storage', 'memory');
    const child = spawnCommand(['serve', '--port', '0', '--storage', 'memory', '--log', 'json'], { cwd });
    const exited = once(child, 'exit') as Promise<[number | null]>;
    t.after(async () => {
      child.kill('SIGKILL');
      await exited;
    });
    const [greeting] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
    const [own = url] = /http:\S+/.exec(greeting) ?? [];
    assert.notEqual(own, url);
    child.stderr.destroy();
    for (let i = 0; i < 5; i++) {
      assert.equal((await fetch(`${own}/plants`, { headers: { authorization: `Bearer ${token}` } })).status, 200);
    }
    child.kill('SIGTERM');
    assert.deepEqual((await exited)[0], 0);
  });
});

describe('Log', () => {
  const failing = "const error = new Error('outer', { cause: new TypeError('inner', { cause: 'no error' }) });";

  it('writes an error with its causes on one line of JSON', async () => {
    const stderr = await runLog(`${failing} new Log('json').error('It failed', error);`);
    const line = JSON.parse(stderr.trimEnd()) as Line;
    assert.deepEqual([line['level'], line['message']], ['error', 'It failed']);
    const stacks = /^Error: outer\n +at .*Caused by TypeError: inner\n +at .*Caused by no error/s;
    assert.match(String(line['error']), stacks);
  });

  it('writes an error with its causes on lines for people', async () => {
    const stderr = await runLog(`${failing} new Log('pretty').error('It failed', error);`);
    const stacks =
      /^[\d:]{8} ERROR It failed\nError: outer\n +at .*Caused by TypeError: inner\n +at .*Caused by no error/s;
    assert.match(stderr, stacks);
  });

  it('writes nothing when it is off', async () => {
    assert.equal(await runLog(`const log = new Log('off'); log.info('a'); log.error('b', 1); log.flush();`), '');
  });

  it('counts an error that comes again within a second', async () => {
    const code = `
      const log = new Log('json');
      const fail = (cause) => log.error('It failed', new Error('outer', { cause: new Error(cause) }));
      for (let n = 0; n < 1000; n++) { fail('inner'); fail('other'); log.error('Without more'); }
      setTimeout(() => { fail('inner'); log.flush(); }, 1500);`;
    const lines = (await runLog(code))
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as Line)['message']);
    assert.deepEqual(lines, [
      'It failed',
      'It failed',
      'Without more',
      '999 times more: It failed: outer inner',
      '999 times more: It failed: outer other',
      '999 times more: Without more',
      'It failed',
    ]);
  });

  it('drops what nobody reads, and counts it', async () => {
    const code = `
      const log = new Log('json');
      let unread = 2 ** 20 + 1;
      Object.defineProperty(process.stderr, 'writableLength', { get: () => unread });
      log.info('a'); log.info('b'); log.flush();
      unread = 0;
      log.info('c'); log.flush();`;
    const lines = (await runLog(code)).trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as Line)['message']),
      ['c', '2 lines were dropped because standard error was not read'],
    );
  });

  it('writes what is waiting when it is told to', async () => {
    const code =
      "const log = new Log('json'); log.info('a'); log.error('b'); log.error('b'); log.flush(); process.exit();";
    const lines = (await runLog(code)).trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as Line)['message']),
      ['a', 'b', '1 times more: b'],
    );
  });
});
