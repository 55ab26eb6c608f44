import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runCrashRounds } from '../crash/rounds.ts';
import { tsx } from '../support/run-script.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

describe('plant-store serve, killed and started again on one file', () => {
  it('has what it acknowledged, and nothing else', async (t) => {
    const { rounds, acknowledged, unanswered, killedAtStart, integrity, ...faults } = await runCrashRounds({
      folder: await temporaryFolder(t),
      command: ['--import', tsx, main],
      rounds: ['kill', 'kill at start', 'kill one of two', 'stop', 'kill'],
      random: Math.random,
    });
    t.diagnostic(
      `${rounds} rounds, ${acknowledged} acknowledged, ${unanswered} without a response, ${killedAtStart} killed during startup`,
    );
    assert.deepEqual(faults, { lost: [], resurrected: [], phantom: [], problems: [] });
    assert.equal(integrity, 'ok');
    assert.ok(acknowledged > 0);
  });
});
