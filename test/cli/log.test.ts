import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, createReadStream, openSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestMessage } from '../../src/http.ts';
import { Log } from '../../src/cli/log.ts';
import type { LogFormat } from '../../src/cli/log.ts';
import { Output } from '../../src/cli/process.ts';
import { callService } from '../support/call.ts';
import { spawnCommand } from '../support/command-line.ts';
import { eventually, eventuallyEqual } from '../support/eventually.ts';
import { exchange } from '../support/raw-http.ts';
import { commandEnvironment } from '../support/run-program.ts';
import { untilListening } from '../support/server-process.ts';
import { main } from '../support/sources.ts';
import { execute } from '../support/sqlite-file.ts';
import { hasProgram } from '../support/system-fault.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { folderWithToken, startTokenServer } from '../support/token-server.ts';

function createLog(format: LogFormat) {
  let text = '';
  const log = new Log(format, 'info', (added) => (text += added));
  return { log, text: () => text };
}

const shown = {
  ...{ requestId: 'order-7', client: '192.0.2.2', user: 'ada\u001b[2J', tokenId: 'tk_1' },
  ...{ method: 'GET', path: '/plants', operation: 'getPlants', status: 200 },
};
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const request: RequestMessage = {
  ...{ ...shown, traceparent: `00-${traceId}-00f067aa0ba902b7-01`, durationMs: 1.23456 },
  ...{ unmatchedPath: undefined, code: undefined, isComplete: true },
};

it('Log › writes a request as one JSON line, with the level error if an error ended the response early', () => {
  const { log, text } = createLog('json');
  log.request(request);
  log.request({ ...request, path: '', unmatchedPath: '/x', code: 'incomplete', isComplete: false });
  const lines = text().trimEnd().split('\n');
  const [entry, incomplete, ...others] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const { time, ...rest } = entry ?? {};
  assert.ok(Math.abs(Date.parse(String(time)) - Date.now()) < 60_000);
  assert.deepEqual(rest, { level: 'info', message: 'request', ...shown, traceId, durationMs: 1.235 });
  const cutOff = { level: 'error', status: 200, path: '/x', code: 'incomplete', end: 'incomplete' };
  assert.partialDeepStrictEqual(incomplete, cutOff);
  assert.deepEqual(others, []);
});

it('Log › writes an unexpected error with the stacks of its causes, and escapes control characters', () => {
  const error = new Error('outer', { cause: new TypeError('inner', { cause: 'no error' }) });
  for (const format of ['json', 'pretty'] as const) {
    const { log, text } = createLog(format);
    log.error('It failed', error);
    log.request(request);
    assert.match(text(), /It failed: outer \(inner, no error\).*at .*Caused by TypeError: inner.*at .*no error/s);
    assert.match(text(), /\bada\\u001b\[2J\b/);
  }
});

it('Log › counts repetitions of an error, and writes the count after a second', async () => {
  const { log, text } = createLog('json');
  for (let n = 0; n < 1000; n++) for (const error of ['one', 'other']) log.error(error);
  await sleep(1100);
  log.error('one');
  const counted = ['Repeated 999 times: one', 'Repeated 999 times: other'];
  const messages = Array.from(text().matchAll(/"message":"([^"]+)"/g), ([, message]) => message);
  assert.deepEqual(messages, ['one', 'other', ...counted, 'one']);
});

it('Output › keeps about 1 MiB of text for a pipe that is not read, and drops the rest', async (t) => {
  if (!hasProgram(t, 'mkfifo')) return;
  const pipe = join(await temporaryFolder(t), 'pipe');
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
  const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  const output = new Output({ fd });
  for (let n = 0; n < 3000; n++) output.write('x'.repeat(1024));
  assert.equal(await output.flush(), true, 'process.exit() need not wait');
  let length = 0;
  const reading = createReadStream(pipe).on('data', (chunk) => (length += chunk.length));
  await eventuallyEqual(() => length > 2 ** 20, true);
  closeSync(fd);
  await once(reading, 'close');
  assert.ok(length < 1.1 * 2 ** 20, `${length}`);
});

/**
 * Runs a program on a terminal. Prints what the program writes until it has printed `stored`, and then no longer reads
 * the terminal, as after Ctrl-S. At the end, prints the number of the signal that ended the program, or its exit code.
 */
const stoppedTerminal = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
text = b''
while b'stored' not in text: text += os.read(terminal, 1000)
print(text.decode(), 'process', pid, flush=True)
_, status = os.waitpid(pid, 0)
print('ended with', status & 127 or status >> 8, flush=True)
`;

it('plant-store serve › responds while its terminal is stopped, and ends after a signal or a fault', async (t) => {
  if (!hasProgram(t, 'python3')) return;
  const { cwd, token } = await folderWithToken(t);
  const command = [process.execPath, main, 'serve', '--port', '0', '--storage', 'memory', '--log', 'json'];
  const fault = "process.on('SIGWINCH',()=>{throw(Error('bug'))})";
  const env = commandEnvironment({ NODE_OPTIONS: `--import=data:text/javascript,${fault}` });
  for (const signal of ['SIGTERM', 'SIGWINCH']) {
    const args = ['-c', stoppedTerminal, ...command];
    const child = spawn('python3', args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const server = await untilListening(t, child, /^Plant Store listening on (\S+)\r\n[^]*process \d+\n/m);
    const pid = Number(/process (\d+)/.exec(server.stdout())?.[1]);
    // The entries of these requests do not fit into the buffer of the terminal.
    for (let n = 0; n < 400; n++) {
      assert.equal((await callService(server.url, 'GET', `/plants?${n}`, { token })).status, 200);
    }
    process.kill(pid, signal);
    await server.exited;
    assert.match(server.stdout(), /ended with 15\n$/);
  }
});

/** Request lines that contain secrets. node:http rejects some of them. */
const linesWith = (token: string): string[] => [
  'GET http://ada:sesame@localhost/plants HTTP/1.1',
  `GET http://${token}@localhost/plants?token=${token} HTTP/1.1`,
  `DELETE /plants/1;token=${token} HTTP/1.1`,
  `POST /${token}/plants HTTP/1.1`,
  'GET //ada:sesame@localhost/plants HTTP/1.1',
  'MKCALENDAR /plants?sesame HTTP/1.1',
  `CONNECT ${token}:443 HTTP/1.1`,
  `SESAME /plants/${token} HTTP/1.1`,
  `GET /plants/${token} HTTP/9.9`,
];

it('log of serve › contains requests, but no secrets', async (t) => {
  const flags = ['--storage', 'memory', '--trusted-proxies', '1'];
  const { server, token, log } = await startTokenServer(t, flags);
  for (const line of linesWith(token)) {
    const headers = 'Host: localhost\r\nConnection: close\r\nX-Forwarded-For: 192.0.2.1, 192.0.2.2';
    await exchange(t, server.port, `${line}\r\n${headers}\r\n\r\n`);
  }
  assert.equal(await server.stop(), 0);
  assert.ok(log().some(({ message, client }) => message === 'request' && client === '192.0.2.2'));
  assert.ok(log().some(({ message }) => message === 'refused'));
  for (const secret of ['sesame', 'SESAME', 'pst_', token.slice(4, 20)]) {
    assert.ok(!server.stderr().includes(secret), server.stderr());
  }
});

it('log of serve --log-level error › contains only errors and warnings, each as one line of JSON', async (t) => {
  const fail = `{setImmediate(()=>{throw(Error('next'))});throw(Error('bug'))}`;
  const faults = `process.on('SIGUSR2',()=>process.emitWarning('odd')).on('SIGWINCH',()=>${fail})`;
  const env = { PLANT_STORE_STORGE: 'x', NODE_OPTIONS: `--import=data:text/javascript,${faults}` };
  const { server, cwd, create, log } = await startTokenServer(t, ['--log-level', 'error'], { env });
  assert.equal((await create(1)).status, 200);
  execute(join(cwd, 'plants.db'), 'DROP TABLE plants');
  const [failed, again] = [await create(2), await create(2)];
  assert.deepEqual([failed.status, again.status], [503, 503]);
  void server.stop('SIGUSR2');
  await server.printed(/odd/);
  assert.equal(await server.stop('SIGWINCH'), 1);
  const failure = 'POST /plants failed: no such table: plants';
  const messages = (): unknown[] => log().map(({ message }) => message);
  await eventually(() => {
    for (const expected of [failure, `Repeated 1 time: ${failure}`, 'Warning: odd', 'The server ends: bug']) {
      assert.ok(messages().includes(expected), expected);
    }
  });
  assert.match(String(log()[0]?.['message']), /PLANT_STORE_STORGE/);
  assert.equal(log()[1]?.['requestId'], failed.headers.get('x-request-id'));
  assert.ok(log().every(({ level }) => level === 'error'));
});

it('plant-store serve › continues after the reader of its log closes the pipe', async (t) => {
  const { cwd, token } = await folderWithToken(t);
  const child = spawnCommand(['serve', '--port', '0', '--storage', 'memory'], { cwd });
  const unread = await untilListening(t, child, /^Plant Store listening on (\S+)\n/m);
  child.stderr.destroy();
  for (let i = 0; i < 5; i++) assert.equal((await callService(unread.url, 'GET', '/plants', { token })).status, 200);
  assert.equal(await unread.stop(), 0);
});
