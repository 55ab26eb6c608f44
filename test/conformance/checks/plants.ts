import { maxInt64, minInt64 } from '../../../src/core/model/plant.ts';
import { newPlantJson } from '../client.ts';
import {
  createPlant,
  expectError,
  expectMine,
  expectNoBody,
  expectPlant,
  expectStatus,
  expectStored,
  inTurn,
  mustCreate,
} from '../expect.ts';
import type { Checks } from '../expect.ts';

/** Returns path segments that are not decimal int64 values. A faulty server might take some of them for `id`. */
function invalidIds(id: bigint): string[] {
  const templates = ['#.0', '#e0', '+#', '#x', '%20#', '#%20', '#%2F#'];
  const eastern = Array.from(String(id), (digit) => encodeURIComponent(String.fromCodePoint(0x660 + Number(digit))));
  return [
    ...['x', '-', '%20', `0x${id.toString(16)}`, eastern.join(''), `${id}`.repeat(100)],
    ...templates.map((template) => template.replaceAll('#', String(id))),
  ];
}

export const createChecks: Checks = {
  'create-200 MUST respond to a valid POST /plants with 200 and the Plant, as application/json': async (c, plant) => {
    const tagged = { ...plant, tag: 'indoor' };
    await expectPlant(await expectStatus(c.a.create(tagged), 200), tagged);
  },
  'create-without-tag MUST omit the tag of a plant that has none': async (c, plant) => {
    await expectPlant(c.a.create(plant), plant);
    await expectStored(c, plant);
  },
  'create-unknown-fields MUST ignore unknown fields of a NewPlant': (c, { id, name }) => {
    const nested = newPlantJson({ id: id + 1n, name: 'other', tag: 'other' });
    const body = `{"color":"green","parent":${nested},"id":${id},"name":"${name}","list":[${nested}]}`;
    return expectPlant(c.a.post(body, id), { name });
  },
  'create-media-type MUST accept application/json in any case and with charset=utf-8 [RFC 9110 §8.3.1]': (c) =>
    inTurn(['Application/JSON', 'application/json; charset=utf-8', 'application/json;charset="UTF-8"'], (type) => {
      const plant = c.newPlant();
      return expectPlant(c.a.create(plant, { 'content-type': type }), plant);
    }),
  'create-visible MUST list plants as soon as they are created, also with equal names': async (c, plant) => {
    const plants = [plant, { ...plant, id: c.newId() }];
    await mustCreate(c.a, ...plants);
    await expectMine(c, plants);
  },
  'taken-id MUST respond with 400 to a NewPlant whose id is taken, and leave the stored plant as it is': async (
    c,
    plant,
  ) => {
    const stored = { ...plant, tag: 'first' };
    await mustCreate(c.a, stored);
    await expectError(c.a.create(stored), 400);
    await expectError(c.a.create({ ...c.newPlant(plant.id), tag: 'second' }), 400);
    await expectStored(c, stored);
  },
};

export const deleteChecks: Checks = {
  'delete-204 MUST respond to DELETE with 204 and no body, and no longer list the plant or keep its id taken': async (
    c,
  ) => {
    const [kept, plant] = [await createPlant(c), await createPlant(c)];
    await expectNoBody(c.a.remove(plant.id), 204);
    await expectMine(c, [kept]);
    await expectPlant(c.a.create(plant), plant);
  },
  'delete-absent MUST respond with 404 to the DELETE of a plant that does not exist any more': async (c, { id }) => {
    await expectError(c.a.remove(id), 404);
    const plant = await createPlant(c);
    await c.a.remove(plant.id);
    await expectError(c.a.remove(plant.id), 404);
  },
  'delete-invalid-id MUST respond with 400 to an id that is not a decimal int64': async (c) => {
    const { id } = await createPlant(c);
    await inTurn([...invalidIds(id), maxInt64 + 1n, minInt64 - 1n], (each) => expectError(c.a.remove(each), 400));
  },
};
