import { checksOf, each } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import { newPlantJson } from '../check-user.ts';
import { expect, expectError, expectJsonType, expectPlant, expectStatus } from '../expect.ts';
import { expectOnce, expectStored } from './stored.ts';

const jsonTypes = ['Application/JSON', 'application/json; charset=utf-8', 'application/json;charset="UTF-8"'];

/** Checks of POST /plants with a valid NewPlant. */
export const createCases: readonly CheckCase[] = checksOf('Create Plant', {
  'create-200 MUST respond to a valid POST /plants with 200': (c) =>
    expectStatus(c.a.create(c.newPlant('indoor')), 200),
  'create-response MUST respond to POST /plants with the name and the tag only': (c) =>
    c.expectCreated(c.newPlant('indoor')),
  'create-media-type MUST declare the response to POST /plants as application/json': (c) =>
    expectJsonType(c.a.create(c.newPlant())),
  'create-visible MUST list a plant as soon as its creation is acknowledged': async (c) => {
    const { name } = await c.createPlant(c.a, 'indoor');
    const { plants, exchange } = await c.listMine();
    const isListed = plants.length === 1 && plants[0]?.name === name && plants[0].tag === 'indoor';
    expect(isListed, exchange, `the plant ${name} with the tag "indoor"`);
  },
  'create-without-tag MUST omit the tag of a plant that has none [absent tag]': async (c) => {
    const plant = c.newPlant();
    await c.expectCreated(plant);
    await expectStored(c.a, plant);
  },
  'create-empty-strings MUST accept and keep an empty name and an empty tag [name, tag]': async (c) => {
    const plant = { id: c.newId(), name: '', tag: '' };
    await c.expectCreated(plant);
    await expectStored(c.a, plant);
  },
  'create-unknown-fields MUST ignore unknown fields of a NewPlant [name, tag]': async (c) => {
    const { id, name } = c.newPlant();
    const nested = newPlantJson({ id: id + 1n, name: 'other', tag: 'other' });
    const body = `{"colour":"green","parent":${nested},"id":${id},"name":"${name}","list":[${nested}]}`;
    await expectPlant(c.a.post(body, id, id + 1n), { name });
  },
  'create-field-order MUST accept the fields of a NewPlant in any order [RFC 8259 §4]': async (c) => {
    const plant = c.newPlant('indoor');
    const body = ` {\n"tag" : "indoor",\t"name":"${plant.name}",\r\n"id": ${plant.id} } `;
    await expectPlant(c.a.post(body, plant.id), plant);
  },
  'create-media-type-parameters MUST accept application/json in any case and with charset=utf-8 [RFC 9110 §8.3.1]':
    each(jsonTypes, async (c, type) => {
      const plant = c.newPlant();
      await expectPlant(c.a.create(plant, { 'content-type': type }), plant);
    }),
  'create-long-name MUST accept a name of 10,000 characters [name, tag]': (c) =>
    c.expectCreated({ id: c.newId(), name: c.newName().padEnd(10_000, 'x') }),
  'create-same-name MUST accept plants with equal names and tags [name, tag]': async (c) => {
    const name = c.newName();
    for (const id of [c.newId(), c.newId()]) await c.expectCreated({ id, name, tag: 'indoor' });
    await c.expectMine([name, name], `two plants with the name ${name}`);
  },
});

/** Checks of POST /plants with an id that another plant of the user already has. */
export const takenIdCases: readonly CheckCase[] = checksOf('id taken', {
  'taken-id-400 MUST respond with 400 to a NewPlant whose id the user already has': async (c) => {
    const plant = await c.createPlant();
    await expectError(c.a.create({ id: plant.id, name: c.newName() }), 400);
    await expectError(c.a.create(plant), 400);
  },
  'taken-id-unchanged MUST leave the stored plant as it is if its id is taken': async (c) => {
    const plant = await c.createPlant(c.a, 'first');
    await c.a.create({ id: plant.id, name: c.newName(), tag: 'second' });
    await expectStored(c.a, plant);
  },
  'taken-id-free-again MUST accept the id of a deleted plant again': async (c) => {
    const { id } = await c.createPlant();
    await c.a.remove(id);
    await c.expectCreated({ id, name: c.newName() });
  },
  'taken-id-once MUST create a plant exactly once if the same request arrives many times at once': async (c) => {
    const plant = c.newPlant();
    await expectOnce(() => c.a.create(plant), 200, 400);
  },
});
