import { must, plantStore } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import { expect, expectPlant, expectPlants, expectStatus, mediaType } from '../expect.ts';

const source = plantStore('Create Plant');

/** Checks of POST /plants with a valid NewPlant. */
export const createCases: readonly CheckCase[] = [
  must('create-200', 'respond to a valid POST /plants with 200', source, async (client) => {
    expectStatus(await client.a.create(client.newPlant('indoor')), 200);
  }),
  must('create-response', 'respond to POST /plants with the name and the tag only', source, async (client) => {
    const { id, name } = client.newPlant();
    expectPlant(await client.a.create({ id, name, tag: 'indoor' }), { name, tag: 'indoor' });
  }),
  must('create-media-type', 'declare the response to POST /plants as application/json', source, async (client) => {
    const created = await client.a.create(client.newPlant());
    expect(mediaType(created) === 'application/json', created, 'the media type application/json');
  }),
  must('create-visible', 'list a plant as soon as its creation is acknowledged', source, async (client) => {
    const { id, name } = client.newPlant();
    await client.a.mustCreate({ id, name, tag: 'indoor' });
    const { plants, exchange } = await client.a.listMarked(client.marker);
    const isListed = plants.length === 1 && plants[0]?.name === name && plants[0].tag === 'indoor';
    expect(isListed, exchange, `the plant ${name} with the tag "indoor"`);
  }),
  must('create-without-tag', 'omit the tag of a plant that has none', plantStore('absent tag'), async (client) => {
    const { id, name } = client.newPlant();
    expectPlant(await client.a.create({ id, name }), { name });
    expectPlants(await client.a.list(`after=${id - 1n}&limit=1`), [{ name }]);
  }),
  must(
    'create-empty-strings',
    'accept and keep an empty name and an empty tag',
    plantStore('name, tag'),
    async (client) => {
      const id = client.newId();
      expectPlant(await client.a.create({ id, name: '', tag: '' }), { name: '', tag: '' });
      expectPlants(await client.a.list(`after=${id - 1n}&limit=1`), [{ name: '', tag: '' }]);
    },
  ),
  must('create-unknown-fields', 'ignore unknown fields of a NewPlant', plantStore('name, tag'), async (client) => {
    const { id, name } = client.newPlant();
    const quoted = JSON.stringify(name);
    const nested = `{"id":${id + 1n},"name":"other","tag":"other"}`;
    const body = `{"colour":"green","parent":${nested},"id":${id},"name":${quoted},"list":[${nested}]}`;
    expectPlant(await client.a.post(body, [id, id + 1n]), { name });
  }),
  must('create-field-order', 'accept the fields of a NewPlant in any order', 'RFC 8259 §4', async (client) => {
    const { id, name } = client.newPlant();
    const body = ` {\n"tag" : "indoor",\t"name":${JSON.stringify(name)},\r\n"id": ${id} } `;
    expectPlant(await client.a.post(body, [id]), { name, tag: 'indoor' });
  }),
  must(
    'create-media-type-parameters',
    'accept application/json in any case and with charset=utf-8',
    'RFC 9110 §8.3.1',
    async (client) => {
      for (const contentType of [
        'Application/JSON',
        'application/json; charset=utf-8',
        'application/json;charset="UTF-8"',
      ]) {
        const { id, name } = client.newPlant();
        client.a.track([id]);
        const body = JSON.stringify({ name }).replace('{', `{"id":${id},`);
        expectPlant(await client.a.send('POST', '/plants', { body, headers: { 'content-type': contentType } }), {
          name,
        });
      }
    },
  ),
  must('create-long-name', 'accept a name of 10,000 characters', plantStore('name, tag'), async (client) => {
    const { id, name } = client.newPlant();
    const longName = name.padEnd(10_000, 'x');
    expectPlant(await client.a.create({ id, name: longName }), { name: longName });
  }),
  must('create-same-name', 'accept plants with equal names and tags', plantStore('name, tag'), async (client) => {
    const [name, ids] = [client.newName(), [client.newId(), client.newId()]];
    for (const id of ids) expectPlant(await client.a.create({ id, name, tag: 'indoor' }), { name, tag: 'indoor' });
    const { plants, exchange } = await client.a.listMarked(client.marker);
    expect(plants.length === 2, exchange, `two plants with the name ${name}`);
  }),
];
