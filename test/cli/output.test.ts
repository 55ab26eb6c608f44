import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, createReadStream, openSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { Output } from '../../src/cli/log.ts';
import { callService } from '../support/call.ts';
import { eventually } from '../support/eventually.ts';
import { commandEnvironment } from '../support/run-program.ts';
import { untilListening } from '../support/server-process.ts';
import { main } from '../support/sources.ts';
import { hasProgram } from '../support/system-fault.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { folderWithToken } from '../support/token-server.ts';

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
