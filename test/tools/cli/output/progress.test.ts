import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { counted, Progress } from '../../../../src/tools/cli/output/progress.ts';
import type { ProgressOptions } from '../../../../src/tools/cli/output/progress.ts';

/** Returns a Progress and what it writes, with `<clear>` in place of the sequence that clears the rest of a line. */
function progressOn(
  stream: { isTTY?: boolean; columns?: number },
  options?: ProgressOptions,
): { progress: Progress; written: string[] } {
  const written: string[] = [];
  return {
    progress: new Progress(options, {
      ...stream,
      write: (text) => written.push(text.replaceAll('\u001b[K', '<clear>')),
    }),
    written,
  };
}

describe('Progress', () => {
  it('writes only messages and the summary if there is no terminal', () => {
    const { progress, written } = progressOn({}, { total: 10 });
    progress.update(5);
    progress.tell('a line');
    progress.finish('Copied', 1234, '; that is all');
    assert.match(written.join(''), /^a line\nCopied 1,234 plants in \d+\.\d s \([\d,]+ a second\); that is all\.\n$/);
  });

  it('shows a bar with rate and remaining time if the total is known, and removes it at the end', async () => {
    const { progress, written } = progressOn({ isTTY: true, columns: 100 }, { total: 4000 });
    await sleep(20);
    progress.update(1000);
    assert.match(written[0] ?? '', /^\r\[#{7}\.{23}\] {2}25 % {2}1,000 plants {2}[\d,]+ a second {2}0:01 left<clear>$/);
    progress.tell('a line');
    progress.update(2000);
    progress.finish('Copied', 4000);
    assert.equal(written[1], '\r<clear>a line\n');
    assert.match(written[2] ?? '', /^\r\[#{15}\.{15}\]/);
    assert.match(written[3] ?? '', /^\r<clear>Copied 4,000 plants in/);
  });

  it('redraws at most ten times a second', async () => {
    const { progress, written } = progressOn({ isTTY: true });
    const start = performance.now();
    for (let count = 0; performance.now() - start < 350; count++) {
      progress.update(count);
      if (count % 1000 === 0) await sleep(1);
    }
    assert.ok(written.length >= 3 && written.length <= 5, `${written.length} times`);
  });

  const lines: [what: string, options: ProgressOptions, update: [count: number, part?: number], line: RegExp][] = [
    [
      'only count and rate if the total is not known',
      { unit: 'pages' },
      [1e6],
      /^\r1,000,000 pages {2}[\d,]+ a second<clear>$/,
    ],
    ['the finished fraction instead of a total', {}, [10, 0.5], / 50 % {2}10 plants /],
    ['the remaining hours', {}, [1, 1e-6], /\d:\d\d:\d\d left/],
  ];
  for (const [what, options, [count, part], line] of lines) {
    it(`shows ${what}`, async () => {
      const { progress, written } = progressOn({ isTTY: true, columns: 100 }, options);
      await sleep(5);
      progress.update(count, part);
      assert.match(written[0] ?? '', line);
    });
  }

  for (const columns of [1, 9, 10, 20, 21, 30, 40, 45, 60, 80, 200]) {
    it(`shows whole parts on one line of ${columns} columns, even if the total is exceeded`, () => {
      for (const count of [0, 1, 99, 150]) {
        const { progress, written } = progressOn({ isTTY: true, columns }, { total: 100 });
        progress.update(count);
        const line = (written[0] ?? '').replace(/\r|<clear>/g, '');
        assert.ok(line.length < columns, line);
        // Without a number that is cut.
        const counts = `( {2}${count} plants( {2}[\\d,]+ a second( {2}(\\d+:)?\\d+:\\d\\d left)?)?)?`;
        assert.match(line, new RegExp(`^(\\[#*\\.*\\] )? *(${Math.min(count, 100)} %${counts})?$`));
      }
    });
  }

  it('shows no bar on a terminal if isShown is false', () => {
    const { progress, written } = progressOn({ isTTY: true }, { isShown: false });
    progress.update(1);
    assert.deepEqual(written, []);
  });
});

describe('counted', () => {
  it('uses the singular for one', () => {
    assert.deepEqual(
      [counted(0, 'plant'), counted(1, 'plant'), counted(1000, 'plant'), counted(1)],
      ['0 plants', '1 plant', '1,000 plants', '1'],
    );
  });
});
