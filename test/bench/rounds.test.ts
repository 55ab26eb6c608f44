import assert from 'node:assert/strict';
import { it } from 'node:test';
import { bareName, mediansOf, runRounds } from './rounds.ts';
import type { Participant } from './rounds.ts';

/** Returns a participant with these CPU times, one per round. The last time is used for all further rounds. */
function participant(name: string, micros: readonly number[]): Participant {
  let n = 0;
  const measure: Participant['measure'] = () =>
    Promise.resolve({ cpuMicros: micros[Math.min(n++, micros.length - 1)] ?? NaN });
  return { name, measure };
}

for (const [title, bare, run, steady] of [
  ['does not repeat steady rounds', [99, 10, 11, 10, 9], 4, [10, 11, 10, 9]],
  ['repeats a round that is too slow', [99, 10, 11, 13, 10, 10], 5, [10, 11, 10, 10]],
  ['repeats a round that is too fast', [99, 10, 8, 10, 10, 10], 5, [10, 10, 10, 10]],
  ['stops if the machine is never steady', [99, 1, 2, 4, 8, 16, 32], 6, []],
  ['keeps all rounds without a bare participant', [], 4, [1, 20, 300, 300]],
] as const) {
  it(`rounds › ${title}`, async () => {
    const other = participant('other', bare.length === 0 ? [99, 1, 20, 300] : bare);
    const rounds = await runRounds(4, [other, ...(bare.length === 0 ? [] : [participant(bareName, bare)])]);
    assert.equal(rounds.run, run);
    assert.deepEqual(
      rounds.steady.map((round) => round.get('other')?.cpuMicros),
      steady,
    );
  });
}

it('rounds › count either for all participants or for none', async () => {
  const participants = [participant('other', [99, 1, 2, 3, 4, 5]), participant(bareName, [99, 10, 20, 10, 10, 10])];
  const { steady } = await runRounds(4, participants);
  assert.deepEqual(mediansOf(steady), { other: { cpuMicros: 3.5 }, [bareName]: { cpuMicros: 10 } });
});
