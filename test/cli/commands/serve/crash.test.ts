import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { parseArgs } from 'node:util';
import { runCrashRounds } from '../../../crash/rounds.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    storage: { type: 'string', multiple: true, default: ['sqlite:plants.db', 'sqlite:plants.db?commitThread=true'] },
  },
});

for (const storage of values.storage) {
  it(`serve --storage ${storage}, killed and restarted › stores exactly the acknowledged writes`, async (t) => {
    // The folder is kept if the test fails.
    const folder = await mkdtemp(join(tmpdir(), 'plant-store-crash-'));
    const rounds = Number(values.rounds);
    const { acknowledged, problems } = await runCrashRounds({ folder, storage, rounds });
    t.diagnostic(`${acknowledged} writes acknowledged, in ${folder}`);
    assert.deepEqual(problems, []);
    assert.ok(acknowledged > 0);
    await rm(folder, { recursive: true });
  });
}
