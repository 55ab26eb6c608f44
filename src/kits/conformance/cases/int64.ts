import { must, plantStore } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import type { CheckClient } from '../check-client.ts';
import { maxInt64, minInt64 } from '../../../core/model/int64.ts';
import { expect, expectError, expectPlant, expectPlants, expectStatus } from '../expect.ts';

const source = plantStore('int64');

async function expectFixedIdWorks(client: CheckClient, id: bigint): Promise<void> {
  const { name } = await client.createAtFixedId(id);
  const { plants, exchange } = await client.a.listMarked(client.marker);
  expect(
    plants.some((plant) => plant.name === name),
    exchange,
    `the plant ${name}`,
  );
  expectStatus(await client.a.remove(id), 204);
}

/** Creates a plant with its id in the given notation, such as `1e3`. Checks that the stored plant has the id `id`. */
async function expectSameId(client: CheckClient, id: bigint, notation: string): Promise<void> {
  const name = client.newName();
  expectPlant(await client.a.post(`{"id":${notation},"name":${JSON.stringify(name)}}`, [id]), { name });
  expectError(await client.a.create({ id, name: client.newName() }), 400);
  expectStatus(await client.a.remove(id), 204);
}

/** Checks of ids at and beyond the limits of an int64, and of ids that a double cannot represent. */
export const int64Cases: readonly CheckCase[] = [
  must('int64-neighbours', 'keep apart ids over 2^53 that a double would merge', source, async (client) => {
    const id = client.newLargeId(2);
    const names = [client.newName(), client.newName()] as const;
    expectStatus(await client.a.create({ id, name: names[0] }), 200);
    expectStatus(await client.a.create({ id: id + 1n, name: names[1] }), 200);
    expectPlants(await client.a.list(`after=${id - 1n}&limit=2`), [{ name: names[0] }, { name: names[1] }]);
  }),
  must('int64-delete-exact', 'delete exactly the id in the path, also over 2^53', source, async (client) => {
    const id = client.newLargeId(2);
    const names = [client.newName(), client.newName()] as const;
    await client.a.mustCreate({ id, name: names[0] });
    expectError(await client.a.remove(id + 1n), 404);
    await client.a.mustCreate({ id: id + 1n, name: names[1] });
    expectStatus(await client.a.remove(id), 204);
    const { plants, exchange } = await client.a.listMarked(client.marker);
    expect(plants.map(({ name }) => name).join() === names[1], exchange, `the plant ${names[1]} only`);
  }),
  must('int64-after-exact', 'compare after exactly, also over 2^53', source, async (client) => {
    const id = client.newLargeId(2);
    const names = [client.newName(), client.newName()] as const;
    await client.a.createAll([
      { id, name: names[0] },
      { id: id + 1n, name: names[1] },
    ]);
    expectPlants(await client.a.list(`after=${id}&limit=1`), [{ name: names[1] }]);
  }),
  must('int64-largest', 'accept the id 2^63-1', source, (client) => expectFixedIdWorks(client, maxInt64)),
  must('int64-smallest', 'accept the id -2^63', source, (client) => expectFixedIdWorks(client, minInt64)),
  must('int64-zero', 'accept the id 0', source, (client) => expectFixedIdWorks(client, 0n)),
  must('int64-negative', 'accept negative ids', source, async (client) => {
    const plant = { id: -client.newId(), name: client.newName() };
    expectPlant(await client.a.create(plant), { name: plant.name });
    expectStatus(await client.a.remove(plant.id), 204);
  }),
  must('int64-out-of-range', 'respond with 400 to an id beyond int64', source, async (client) => {
    // A faulty server may store a plant with the smallest or the largest int64 as its id. Such a plant is deleted after
    // the check, so the check is not run if the user already has a plant with one of these ids.
    for (const limit of [minInt64, maxInt64]) {
      await client.createAtFixedId(limit);
      await client.a.remove(limit);
    }
    for (const id of [maxInt64 + 1n, minInt64 - 1n, 2n ** 64n, 10n ** 30n]) {
      const body = `{"id":${id},"name":"${client.newName()}"}`;
      expectError(await client.a.post(body, [id, minInt64, maxInt64]), 400);
    }
  }),
  must('int64-huge-exponent', 'respond with 400 to an id such as 1e400', source, async (client) => {
    for (const id of ['1e400', '-1e400', '1e999999999', '1E+19']) {
      expectError(await client.a.post(`{"id":${id},"name":"${client.newName()}"}`, [10n ** 19n]), 400);
    }
  }),
  must('int64-integral-fraction', 'accept an integral id with a fraction part, such as 5.0', source, async (client) => {
    const id = client.newId();
    await expectSameId(client, id, `${id}.0`);
  }),
  must('int64-exponent', 'accept an integral id with an exponent, such as 1e3', source, async (client) => {
    const thousands = client.newId(2000) / 1000n + 1n;
    await expectSameId(client, thousands * 1000n, `${thousands}e3`);
    await expectSameId(client, thousands * 1000n, `${thousands}00.0E+1`);
  }),
  must('int64-exact-notations', 'keep an id over 2^53 exact in every notation', source, async (client) => {
    const id = client.newLargeId(20);
    for (const notation of [`${id + 1n}.000`, `${id + 1n}0e-1`, `0.${id + 1n}e${String(id).length}`]) {
      await expectSameId(client, id + 1n, notation);
    }
  }),
  must('int64-order', 'order ids as numbers, not as text', plantStore('order, paging'), async (client) => {
    const id = client.newId(2);
    // If ids were sorted as text, -1 would come before -2.
    const ids = [-client.newLargeId(), -id - 1n, -id, id, id + 1n, client.newLargeId()];
    const plants = ids.map((each) => ({ id: each, name: client.newName() }));
    await client.a.createAll(plants.toReversed());
    const { plants: listed, exchange } = await client.a.listMarked(client.marker);
    const names = plants.map(({ name }) => name).join(', ');
    expect(listed.map(({ name }) => name).join(', ') === names, exchange, `the plants ${names} in this order`);
  }),
];
