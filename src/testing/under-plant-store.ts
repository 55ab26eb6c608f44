import { PlantStore } from '../store/plant-store.ts';
import { expectCode, expectEqual } from './expect.ts';
import { ids, range } from './plants.ts';
import type { Suite } from './suite.ts';

/** Registers the tests for a PlantStore that uses the adapter. */
export function testUnderPlantStore({ test }: Suite): void {
  test('of many concurrent creates of the same plant, exactly one succeeds', async ({ open }) => {
    const store = new PlantStore({ storage: await open() });
    const attempts = range(40).flatMap((id) => range(10).map((n) => store.createPlant('ada', { id, name: `${n}` })));
    const settled = await Promise.allSettled(attempts);
    for (const [index, outcome] of settled.entries()) {
      const contract = 'A create must succeed or reject with id_taken.';
      const attempt = attempts[index];
      if (outcome.status === 'rejected' && attempt !== undefined) await expectCode(attempt, 'id_taken', contract);
    }
    const byPlant = range(40).map((id) => settled.slice(id * 10, id * 10 + 10));
    for (const [id, outcomes] of byPlant.entries()) {
      expectEqual(
        outcomes.filter(({ status }) => status === 'fulfilled').length,
        1,
        `Plant ${id} was created ten times concurrently. Exactly one of these creates must succeed.`,
      );
    }
    expectEqual(
      ids(await store.listPlants('ada')),
      range(40).map(BigInt),
      'The list must contain each of the 40 plants exactly once.',
    );
    const deletes = await Promise.all(
      range(40).map((id) => Promise.all([store.deletePlant('ada', id), store.deletePlant('ada', id)])),
    );
    for (const [id, outcomes] of deletes.entries()) {
      const contract = `Plant ${id} was deleted twice concurrently. Exactly one of these deletes must return true.`;
      expectEqual(outcomes.toSorted(), [false, true], contract);
    }
  });
}
