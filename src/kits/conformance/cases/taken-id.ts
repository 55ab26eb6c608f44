import { must, plantStore } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import { expectError, expectPlant, expectPlants } from '../expect.ts';

const source = plantStore('id taken');

/** Checks of POST /plants with an id that another plant of the user already has. */
export const takenIdCases: readonly CheckCase[] = [
  must('taken-id-400', 'respond with 400 to a NewPlant whose id the user already has', source, async (client) => {
    const plant = client.newPlant();
    await client.a.mustCreate(plant);
    expectError(await client.a.create({ id: plant.id, name: client.newName() }), 400);
    expectError(await client.a.create(plant), 400);
  }),
  must('taken-id-unchanged', 'leave the stored plant as it is if its id is taken', source, async (client) => {
    const { id, name } = client.newPlant();
    await client.a.mustCreate({ id, name, tag: 'first' });
    await client.a.create({ id, name: client.newName(), tag: 'second' });
    expectPlants(await client.a.list(`after=${id - 1n}&limit=1`), [{ name, tag: 'first' }]);
  }),
  must('taken-id-free-again', 'accept the id of a deleted plant again', source, async (client) => {
    const { id, name } = client.newPlant();
    await client.a.mustCreate({ id, name: client.newName() });
    await client.a.remove(id);
    expectPlant(await client.a.create({ id, name }), { name });
  }),
  must(
    'taken-id-once',
    'create a plant exactly once if the same request arrives many times at once',
    source,
    async (client) => {
      const { id, name } = client.newPlant();
      const sent = await Promise.all(Array.from({ length: 8 }, () => client.a.create({ id, name })));
      const refused = sent.filter(({ response }) => response.status !== 200);
      for (const exchange of refused) expectError(exchange, 400);
      const accepted = sent.filter(({ response }) => response.status === 200);
      // Exactly one request must be accepted. If none was accepted, the first refused request breaks the rule. If
      // several were accepted, the second accepted request breaks the rule.
      const surplus = accepted.length === 0 ? refused[0] : accepted[1];
      if (surplus !== undefined) expectError(surplus, accepted.length === 0 ? 200 : 400);
    },
  ),
];
