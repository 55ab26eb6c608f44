import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { forEachPage } from '../../../src/tools/transfer/pages.ts';

async function* oneTo(count: number): AsyncGenerator<number, void, undefined> {
  for (let n = 1; n <= count; n++) yield n;
}

describe('forEachPage', () => {
  it('processes one page at a time, in order, and resolves after the last', async () => {
    const steps: string[] = [];
    await forEachPage(oneTo(3), async (n) => {
      steps.push(`begin ${n}`);
      await sleep(5);
      steps.push(`end ${n}`);
    });
    assert.deepEqual(steps, ['begin 1', 'end 1', 'begin 2', 'end 2', 'begin 3', 'end 3']);
  });

  it('rejects if the work on any page fails, and processes no further page', async () => {
    for (const bad of [1, 3]) {
      const worked: number[] = [];
      const working = forEachPage(oneTo(3), async (n) => {
        await sleep(5);
        worked.push(n);
        if (n === bad) throw new Error('bad');
      });
      await assert.rejects(working, { message: 'bad' });
      assert.equal(worked.at(-1), bad);
    }
  });
});
