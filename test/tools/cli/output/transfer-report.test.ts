import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Progress } from '../../../../src/tools/cli/output/progress.ts';
import { TransferReport } from '../../../../src/tools/cli/output/transfer-report.ts';

describe('TransferReport', () => {
  it('escapes line breaks and terminal commands in a user, even C1 control characters', () => {
    const lines: string[] = [];
    const report = new TransferReport(new Progress({}, { write: (line) => lines.push(line) }));
    const plant = { id: 1n, name: 'x' };
    report.onConflict({ user: '\u009b31m\u007f\u001b[2J\n', plant, existing: plant });
    assert.deepEqual(lines, [
      'User "\\u009b31m\\u007f\\u001b[2J\\n" has another plant with id 1: it was left as it is.\n',
    ]);
  });
});
