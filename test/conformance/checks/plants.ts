import { newPlantJson } from '../client.ts';
import { createPlant, expectError, expectMine, expectNoBody, expectPlant } from '../expect.ts';
import { expectStatus, expectStored, inTurn, mustCreate } from '../expect.ts';
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
  'create-visible MUST list a plant as soon as its creation is acknowledged': async (c, plant) => {
    await mustCreate(c.a, plant);
    await expectMine(c, [plant]);
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
  'create-same-name MUST accept plants with equal names and tags': async (c, plant) => {
    const plants = [plant, { ...plant, id: c.newId() }];
    await mustCreate(c.a, ...plants);
    await expectMine(c, plants);
  },
  'taken-id-400 MUST respond with 400 to a NewPlant whose id the user already has': async (c) => {
    const plant = await createPlant(c);
    await expectError(c.a.create(c.newPlant(plant.id)), 400);
    await expectError(c.a.create(plant), 400);
  },
  'taken-id-unchanged MUST leave the stored plant as it is if its id is taken': async (c, plant) => {
    await mustCreate(c.a, { ...plant, tag: 'first' });
    await c.a.create({ ...c.newPlant(plant.id), tag: 'second' });
    await expectStored(c, { ...plant, tag: 'first' });
  },
  'taken-id-free-again MUST accept the id of a deleted plant again': async (c, plant) => {
    await mustCreate(c.a, plant);
    await c.a.remove(plant.id);
    await expectPlant(c.a.create(plant), plant);
  },
};

export const deleteChecks: Checks = {
  'delete-204 MUST respond to the DELETE of a plant with 204 and no body': async (c) =>
    expectNoBody(c.a.remove((await createPlant(c)).id), 204),
  'delete-gone MUST NOT list a deleted plant': async (c) => {
    const [kept, { id }] = [await createPlant(c), await createPlant(c)];
    await c.a.remove(id);
    await expectMine(c, [kept]);
  },
  'delete-absent MUST respond with 404 to the DELETE of a plant that does not exist any more': async (c, { id }) => {
    await expectError(c.a.remove(id), 404);
    const plant = await createPlant(c);
    await c.a.remove(plant.id);
    await expectError(c.a.remove(plant.id), 404);
  },
  'delete-invalid-id MUST respond with 400 to an id that is not a decimal int64': async (c) => {
    const { id } = await createPlant(c);
    await inTurn(invalidIds(id), (segment) => expectError(c.a.remove(segment), 400));
  },
};
