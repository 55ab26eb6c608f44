import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evalArgs, runProgram } from '../../support/run-program.ts';
import { sourceUrl } from '../../support/sources.ts';

describe('silence-sqlite-warning', () => {
  it('suppresses only the warning about SQLite', async () => {
    const code = `for (const text of ['SQLite is an experimental feature and might change at any time', 'Watch out']) {
      process.emitWarning(text, 'ExperimentalWarning');
    }`;
    const args = evalArgs(code, [], [sourceUrl('tools/cli/silence-sqlite-warning.ts')]);
    const { stderr } = await runProgram(process.execPath, args);
    assert.match(stderr, /ExperimentalWarning: Watch out/);
    assert.doesNotMatch(stderr, /SQLite/);
  });
});
