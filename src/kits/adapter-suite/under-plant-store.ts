import { PlantStore } from '../../core/plant-store.ts';
import { expectCode, expectEqual } from './expect.ts';
import { ids, range } from './plants.ts';
import type { Suite } from './suite.ts';

/** Registers the tests for a PlantStore that uses the adapter. */
export function testUnderPlantStore({ test }: Suite): void {
  test('of many concurrent creates of the same plant, exactly one succeeds', async ({ open }) => {
    const store = new PlantStore({ storage: await open() });
    const attempts = range(400).map((n) => store.createPlant('ada', { id: Math.floor(n / 10), name: `${n}` }));
    const settled = await Promise.allSettled(attempts);
    const created = range(400).filter((n) => settled[n]?.status === 'fulfilled');
    const contract = 'Of ten concurrent creates of the same plant, exactly one must succeed.';
    const plants = created.map((n) => Math.floor(n / 10)).sort((a, b) => a - b);
    expectEqual(plants, range(40), contract);
    for (const [n, attempt] of attempts.entries()) {
      if (!created.includes(n)) await expectCode(attempt, 'id_taken', 'The other creates must reject with id_taken.');
    }
    const listed = ids(await store.listPlants('ada', { limit: 1000 }));
    expectEqual(listed, range(40).map(BigInt), 'The list must contain each of the 40 plants exactly once.');
    const deleted = await Promise.all(range(80).map((n) => store.deletePlant('ada', n >> 1)));
    const outcomes = range(40).map((id) => deleted.slice(2 * id, 2 * id + 2).sort());
    const expected = range(40).map(() => [false, true]);
    expectEqual(outcomes, expected, 'Of two concurrent deletes of the same plant, exactly one must return true.');
  });
}
