import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PlantStoreError } from '../../../../src/core/model/errors.ts';
import type { RequestMessage } from '../../../../src/core/model/diagnostics.ts';
import { Log } from '../../../../src/tools/cli/output/log.ts';
import type { LogFormat } from '../../../../src/tools/cli/output/log.ts';
import { captureStream } from '../../../support/capture-stream.ts';

/** Returns the text that a log writes to standard error. */
async function written(format: LogFormat, work: (log: Log) => Promise<void> | void): Promise<string> {
  const stderr = captureStream(process.stderr);
  try {
    const log = new Log(format);
    await work(log);
    log.flush();
    return stderr.text();
  } finally {
    stderr.release();
  }
}

/** Returns the messages that a log writes. */
async function messages(work: (log: Log) => Promise<void> | void): Promise<unknown[]> {
  const lines = (await written('json', work)).trimEnd().split('\n');
  return lines.map((line) => (JSON.parse(line) as { message: unknown }).message);
}

describe('Log', () => {
  it('writes an error with its causes as one line of JSON or as readable lines', async () => {
    const error = new Error('outer', { cause: new TypeError('inner', { cause: 'no error' }) });
    const stacks = /^Error: outer\n +at .*Caused by TypeError: inner\n +at .*Caused by no error/s;
    const fail = (log: Log): void => {
      log.error('It failed', error);
    };
    const line = JSON.parse(await written('json', fail)) as Record<string, string>;
    assert.deepEqual([line['level'], line['message']], ['error', 'It failed: outer inner no error']);
    assert.match(line['error'] ?? '', stacks);
    const [, text = ''] =
      /^[\d:]{8} ERROR It failed: outer inner no error\n(.*)$/s.exec(await written('pretty', fail)) ?? [];
    assert.match(text, stacks);
  });

  it('writes the cause of a storage failure first, then what to do', async () => {
    const full = Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
    const found = await messages((log) => {
      log.error('POST /plants failed', new PlantStoreError('storage_unavailable', undefined, { cause: full }));
      log.error('GET /plants failed', new PlantStoreError('storage_unavailable'));
    });
    assert.deepEqual(found, [
      'POST /plants failed: database or disk is full. Free space on the disk.',
      'GET /plants failed: The storage failed. Try again shortly.',
    ]);
  });

  it('escapes control characters in the user', async () => {
    const request = {
      user: 'ada\u001b[2J',
      method: 'GET',
      path: '/plants',
      status: 200,
      durationMs: 1,
      isComplete: true,
    };
    const tell = (log: Log): void => {
      log.request(request as RequestMessage);
    };
    assert.match(await written('pretty', tell), /^[\d:]{8} GET \/plants 200 1\.0 ms ada\\u001b\[2J\n$/);
    assert.match(await written('json', tell), /"user":"ada\\u001b\[2J"/);
    assert.equal(await written('off', tell), '');
  });

  it('counts repetitions of an error, and writes the count after a second or on a flush', async () => {
    const found = await messages(async (log) => {
      const fail = (cause: string): void => {
        log.error('It failed', new Error('outer', { cause: new Error(cause) }));
      };
      for (let n = 0; n < 1000; n++) {
        fail('inner');
        fail('other');
        log.error('Without more');
      }
      await sleep(1500);
      fail('inner');
      fail('inner');
    });
    assert.deepEqual(found, [
      'It failed: outer inner',
      'It failed: outer other',
      'Without more',
      '999 times more: It failed: outer inner',
      '999 times more: It failed: outer other',
      '999 times more: Without more',
      'It failed: outer inner',
      // Written on flush.
      '1 times more: It failed: outer inner',
    ]);
  });

  it('drops lines if standard error is not read, and writes how many were dropped', async (t) => {
    let unread = 2 ** 20 + 1;
    Object.defineProperty(process.stderr, 'writableLength', { get: () => unread, configurable: true });
    t.after(() => Reflect.deleteProperty(process.stderr, 'writableLength'));
    const found = await messages(async (log) => {
      log.info('a');
      log.info('b');
      log.flush();
      unread = 0;
      log.info('c');
      await sleep(10);
    });
    assert.deepEqual(found, ['c', '2 lines were dropped because standard error was not read']);
  });
});
