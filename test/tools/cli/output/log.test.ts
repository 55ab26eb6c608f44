import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evalArgs, runProgram } from '../../../support/run-program.ts';
import { sourceUrl } from '../../../support/sources.ts';

type Line = Record<string, string | number>;

/** Runs code that uses `Log`, and returns what it wrote to standard error. */
async function runLog(code: string): Promise<string> {
  const script = `import { Log } from '${sourceUrl('tools/cli/output/log.ts')}'; ${code}`;
  const { code: exitCode, stderr } = await runProgram(process.execPath, evalArgs(script));
  assert.equal(exitCode, 0, stderr);
  return stderr;
}

describe('Log', () => {
  const failing = "const error = new Error('outer', { cause: new TypeError('inner', { cause: 'no error' }) });";

  it('writes an error with its causes as one line of JSON', async () => {
    const stderr = await runLog(`${failing} new Log('json').error('It failed', error);`);
    const line = JSON.parse(stderr.trimEnd()) as Line;
    assert.deepEqual([line['level'], line['message']], ['error', 'It failed']);
    const stacks = /^Error: outer\n +at .*Caused by TypeError: inner\n +at .*Caused by no error/s;
    assert.match(String(line['error']), stacks);
  });

  it('writes an error with its causes as readable lines', async () => {
    const stderr = await runLog(`${failing} new Log('pretty').error('It failed', error);`);
    const stacks =
      /^[\d:]{8} ERROR It failed\nError: outer\n +at .*Caused by TypeError: inner\n +at .*Caused by no error/s;
    assert.match(stderr, stacks);
  });

  it('escapes control characters of a user', async () => {
    const message = {
      user: 'ada\u001b[2J',
      method: 'GET',
      path: '/plants',
      status: 200,
      durationMs: 1,
      isComplete: true,
    };
    const code = (format: string): string => `new Log('${format}').request(${JSON.stringify(message)});`;
    assert.match(await runLog(code('pretty')), /^[\d:]{8} GET \/plants 200 1\.0 ms ada\\u001b\[2J\n$/);
    assert.match(await runLog(code('json')), /"user":"ada\\u001b\[2J"/);
  });

  it('writes nothing when it is off', async () => {
    assert.equal(await runLog(`const log = new Log('off'); log.info('a'); log.error('b', 1); log.flush();`), '');
  });

  it('counts an error that is repeated within a second', async () => {
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

  it('drops and counts lines if standard error is not read', async () => {
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

  it('writes pending lines on flush', async () => {
    const code =
      "const log = new Log('json'); log.info('a'); log.error('b'); log.error('b'); log.flush(); process.exit();";
    const lines = (await runLog(code)).trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as Line)['message']),
      ['a', 'b', '1 times more: b'],
    );
  });
});
