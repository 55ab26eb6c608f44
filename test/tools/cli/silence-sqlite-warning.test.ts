import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evalArgs, runProgram } from '../../support/run-program.ts';
import { sourceUrl } from '../../support/sources.ts';

describe('silence-sqlite-warning', () => {
  it('suppresses only the warning about SQLite', async () => {
    const code = `const type = 'ExperimentalWarning';
      process.emitWarning('SQLite is an experimental feature and might change at any time', type);
      process.emitWarning('Watch out', type);`;
    const { stderr } = await runProgram(
      process.execPath,
      evalArgs(code, [], [sourceUrl('tools/cli/silence-sqlite-warning.ts')]),
    );
    assert.match(stderr, /ExperimentalWarning: Watch out/);
    assert.doesNotMatch(stderr, /SQLite/);
  });
});
