import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestMessage } from '../../src/http.ts';
import { Log } from '../../src/cli/log.ts';
import type { LogOptions } from '../../src/cli/log.ts';

/** Returns the text that a log writes. */
async function written(format: LogOptions['format'], work: (log: Log) => Promise<void> | void): Promise<string> {
  let text = '';
  const output = { write: (added: string) => void (text += added), flush: () => Promise.resolve(true) };
  const log = new Log({ format }, output);
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
    assert.match(text, /It failed: outer \(inner \(no error\)\).*at .*Caused by TypeError: inner.*at .*no error/s);
    assert.match(text, /\bada\\u001b\[2J\b/);
  }
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
