import { PlantStore } from '../store/plant-store.ts';
import { expectCode, expectEqual } from './expect.ts';
import { ids, range } from './plants.ts';
import type { Suite } from './suite.ts';

/** Registers the tests for a PlantStore that uses the adapter. */
export function testUnderPlantStore({ test }: Suite): void {
  test('a PlantStore lets exactly one of many concurrent creates of an id succeed', async ({ open }) => {
    const store = new PlantStore({ storage: await open() });
    const attempts = range(40).flatMap((id) => range(10).map((n) => store.createPlant('ada', { id, name: `${n}` })));
    const settled = await Promise.allSettled(attempts);
    for (const [index, outcome] of settled.entries()) {
      const contract = 'A create must succeed, or reject with id_taken.';
      const attempt = attempts[index];
      if (outcome.status === 'rejected' && attempt !== undefined) await expectCode(attempt, 'id_taken', contract);
    }
    const created = settled.filter(({ status }) => status === 'fulfilled').length;
    expectEqual(created, 40, 'Of ten concurrent creates of each of 40 ids, one must succeed.');
    expectEqual(
      ids(await store.listPlants('ada')),
      range(40).map(BigInt),
      'The list must hold each of the 40 ids once.',
    );
    const deletes = await Promise.all(
      range(40).flatMap((id) => [store.deletePlant('ada', id), store.deletePlant('ada', id)]),
    );
    expectEqual(
      deletes.filter(Boolean).length,
      40,
      'Of two concurrent deletes of each of 40 ids, one must return true.',
    );
  });
}
