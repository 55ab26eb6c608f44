import assert from 'node:assert/strict';
import { it } from 'node:test';
import { bareName } from './report.ts';
import { mediansOf, runRounds } from './rounds.ts';
import type { Participant } from './rounds.ts';

/** Takes part with these CPU times, one per round, and then with the last one. */
function participant(name: string, micros: readonly number[]): Participant {
  let n = 0;
  const measure: Participant['measure'] = () =>
    Promise.resolve({ cpuMicros: micros[Math.min(n++, micros.length - 1)] ?? NaN });
  return { name, measure };
}

for (const { title, bare, run, steady } of [
  { title: 'does not repeat steady rounds', bare: [99, 10, 11, 10, 9], run: 4, steady: [10, 11, 10, 9] },
  { title: 'repeats a round that is too slow', bare: [99, 10, 11, 13, 10, 10], run: 5, steady: [10, 11, 10, 10] },
  { title: 'repeats a round that is too fast', bare: [99, 10, 8, 10, 10, 10], run: 5, steady: [10, 10, 10, 10] },
  { title: 'stops if the machine is never steady', bare: [99, 1, 2, 4, 8, 16, 32], run: 6, steady: [] },
]) {
  it(`rounds › ${title}`, async () => {
    const rounds = await runRounds(4, [participant(bareName, bare)]);
    assert.equal(rounds.run, run);
    assert.deepEqual(
      rounds.steady.map((round) => round.get(bareName)?.cpuMicros),
      steady,
    );
  });
}

it('rounds › count for all participants or for none', async () => {
  const participants = [participant('other', [99, 1, 2, 3, 4, 5]), participant(bareName, [99, 10, 20, 10, 10, 10])];
  const { steady } = await runRounds(4, participants);
  assert.deepEqual(mediansOf(steady, participants), { other: { cpuMicros: 3.5 }, [bareName]: { cpuMicros: 10 } });
});

it('rounds › are all kept without a bare participant', async () => {
  const { run, steady } = await runRounds(3, [participant('other', [99, 1, 20, 300])]);
  assert.equal(run, 3);
  assert.equal(steady.length, 3);
});
