import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { Progress } from '../../../../src/tools/cli/output/progress.ts';
import { captureStream } from '../../../support/capture-stream.ts';

/** Returns the text written to stderr. `<clear>` stands for the escape sequence that clears the rest of a line. */
async function written(isTTY: boolean, work: () => Promise<void> | void): Promise<string> {
  const before = process.stderr.isTTY;
  process.stderr.isTTY = isTTY;
  const stderr = captureStream(process.stderr);
  try {
    await work();
    return stderr.text().replaceAll('\u001b[K', '<clear>');
  } finally {
    stderr.release();
    process.stderr.isTTY = before;
  }
}

describe('Progress', () => {
  it('writes only messages and the summary if standard error is not a terminal', async () => {
    const text = await written(false, () => {
      const progress = new Progress('plant');
      progress.update(5);
      progress.tell('a line');
      progress.finish('Copied', 1234, '; that is all');
    });
    assert.match(text, /^a line\nCopied 1,234 plants in \d+\.\d s; that is all\.\n$/);
  });

  it('redraws a line on a terminal at most ten times a second, and overwrites it with the summary', async () => {
    const text = await written(true, async () => {
      const progress = new Progress('page');
      const start = performance.now();
      for (let count = 0; performance.now() - start < 350; count++) {
        progress.update(count);
        if (count % 1000 === 0) await sleep(1);
      }
      progress.finish('Backed up', 4000);
    });
    const times = text.split(' pages<clear>').length - 1;
    assert.ok(times >= 3 && times <= 5, `${times} times`);
    assert.match(text, /\r<clear>Backed up 4,000 pages in [^\r]*\n$/);
  });
});
