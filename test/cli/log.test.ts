import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, createReadStream, openSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestMessage } from '../../src/http.ts';
import { Log, Output } from '../../src/cli/log.ts';
import type { LogFormat } from '../../src/cli/log.ts';
import { callService } from '../support/call.ts';
import { eventually } from '../support/eventually.ts';
import { commandEnvironment } from '../support/run-program.ts';
import { untilListening } from '../support/server-process.ts';
import { main } from '../support/sources.ts';
import { hasProgram } from '../support/system-fault.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { folderWithToken } from '../support/token-server.ts';

/** Returns the text that a log writes. */
async function written(format: LogFormat, work: (log: Log) => Promise<void> | void): Promise<string> {
  let text = '';
  const output = { write: (added: string) => void (text += added), flush: () => Promise.resolve(true) };
  const log = new Log(format, 'info', output);
  await work(log);
  await log.flush();
  return text;
}

async function messages(work: (log: Log) => Promise<void> | void): Promise<string[]> {
  const lines = (await written('json', work)).trimEnd().split('\n');
  return lines.map((line) => (JSON.parse(line) as { message: string }).message);
}

const request = {
  ...{ user: 'ada\u001b[2J', method: 'GET', path: '/plants', status: 200, durationMs: 1, isComplete: true },
} as RequestMessage;

it('Log › writes an unexpected error with the stacks of its causes, and escapes control characters', async () => {
  const error = new Error('outer', { cause: new TypeError('inner', { cause: 'no error' }) });
  for (const format of ['json', 'pretty'] as const) {
    const text = await written(format, (log) => {
      log.error('It failed', error);
      log.request(request);
    });
    assert.match(text, /It failed: outer \(inner, no error\).*at .*Caused by TypeError: inner.*at .*no error/s);
    assert.match(text, /\bada\\u001b\[2J\b/);
  }
});

it('Log › writes a list that an error cuts off as an error, although its status is 200', async () => {
  const incomplete = { ...request, code: 'incomplete', isComplete: false } as RequestMessage;
  const text = await written('json', (log) => {
    log.request(incomplete);
  });
  assert.match(text, /"level":"error".*"status":200.*"code":"incomplete".*"end":"incomplete"/);
});

it('Log › counts repetitions of an error, and writes the count after a second or on a flush', async () => {
  const found = await messages(async (log) => {
    for (let n = 0; n < 1000; n++) {
      log.error('one');
      log.error('other');
    }
    await sleep(1100);
    log.error('one');
    log.error('one');
  });
  const counted = ['Repeated 999 times: one', 'Repeated 999 times: other'];
  assert.deepEqual(found, ['one', 'other', ...counted, 'one', 'Repeated 1 time: one']);
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
  await eventually(() => {
    assert.ok(length > 2 ** 20, `${length}`);
  });
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

it('plant-store serve › responds, and ends after a signal or a fault, if its terminal is stopped', async (t) => {
  if (!hasProgram(t, 'python3')) return;
  const { cwd, token } = await folderWithToken(t);
  const command = [process.execPath, main, 'serve', '--port', '0', '--storage', 'memory', '--log', 'json'];
  const fault = "process.on('SIGWINCH',()=>{throw(Error('bug'))})";
  const options = {
    cwd,
    env: commandEnvironment({ NODE_OPTIONS: `--import=data:text/javascript,${fault}` }),
    stdio: ['ignore', 'pipe', 'inherit'] as ['ignore', 'pipe', 'inherit'],
  };
  for (const signal of ['SIGTERM', 'SIGWINCH']) {
    const child = spawn('python3', ['-c', stoppedTerminal, ...command], options);
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
