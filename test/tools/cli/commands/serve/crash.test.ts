import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runCrashRounds } from '../../../../crash/rounds.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

for (const storage of ['sqlite:plants.db', 'sqlite:plants.db?commitThread=true']) {
  describe(`plant-store serve --storage ${storage}, killed and restarted on one file`, () => {
    it('stores exactly the acknowledged writes', async (t) => {
      const { acknowledged, unanswered, problems } = await runCrashRounds({
        folder: await temporaryFolder(t),
        storage,
        rounds: 4,
      });
      t.diagnostic(`${acknowledged} writes acknowledged, ${unanswered} without a response`);
      assert.deepEqual(problems, []);
      assert.ok(acknowledged > 0);
    });
  });
}
