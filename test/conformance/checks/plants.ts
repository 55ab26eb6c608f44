import { maxInt64, minInt64 } from '../../../src/core/model/plant.ts';
import { newPlantJson } from '../client.ts';
import type { NewPlant } from '../client.ts';
import { createAt, createPlant, expect, expectError, expectMine, expectPlant, expectStatus } from '../expect.ts';
import { expectStored, inTurn, mustCreate } from '../expect.ts';
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

const texts = [
  ...['', 'x'.repeat(10_000)],
  // Characters beyond U+FFFF, composed and decomposed characters, control characters and noncharacters.
  ...['\u{1F33F}', '\u{1F469}\u200D\u{1F33E}', '\u{10FFFF}', '\u00E9', 'e\u0301', '\uFB01', '\u212B', 'ß'],
  ...['\u0001', '\b\f', '\u001B[2J', '\u007F', '\u0085', '\u202E', '\uFFFD', '\uFFFE\uFFFF\uFDD0'],
  ...[' ', '  x  ', 'a\r\nb', '\t', '\u00A0\u3000', '\uFEFF', '\u2028'],
  // Text that looks like markup, like code or like another type.
  ...['"', '\\', '\\n', '\\u0041', "'", '"}', '","tag":"x', '<b>&amp;</b>', '%20', '${x}', '%s'],
  ...["'; DROP TABLE plants; --", 'null', 'true', '1e3', '0x10', '[]', '{}'],
];

/** Media types that a server must refuse, including JSON in a charset other than UTF-8. */
const otherMediaTypes = [
  ...['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'application/vnd.api+json', undefined],
  ...['application/jsonp', 'text/application/json'],
  ...['application/json; charset=latin1', 'application/json;charset = xutf-8', 'application/json;charset=utf-8x'],
];

/** Returns bodies that are not JSON in UTF-8. Most of them are derived from the JSON of a plant. */
function malformedJson(plant: NewPlant): (string | Uint8Array<ArrayBuffer>)[] {
  const json = newPlantJson(plant);
  const cut = [json.slice(0, -1), `${json}}`, `${json},`, json.replaceAll('"', "'"), json.replace(/\}$/, ',}')];
  const numbers = ['0', '+'].map((sign) => json.replace(/:(\d+)/, `:${sign}$1`));
  const latin1 = Uint8Array.from(`{"id":${plant.id},"name":"L\u00f6wenzahn"}`, (character) => character.charCodeAt(0));
  return ['{', 'id=1', ...cut, `// a comment\n${json}`, ...numbers, latin1];
}

/** Bodies that are not a NewPlant: templates, and what replaces `?` in them. */
const invalidPlants: Readonly<Record<string, readonly string[]>> = {
  '?': ['null', '[]', '"<name>"', '1', 'true', '["id","name"]'],
  '{?"name":"<name>"}': ['', '"ID":<id>,', '"__proto__":{"id":<id>},'],
  '{"id":<id>?}': ['', ',"tag":"x"', ',"Name":"x"'],
  '{"id":?,"name":"<name>"}': ['"<id>"', 'null', 'true', '[<id>]', '{"id":<id>}', '""'],
  '{"id":<id>?,"name":"<name>"}': ['.5', '.00000000000000000001', '5e-1'],
  '{"id":<id>,"name":?}': ['null', '2', 'true', '["x"]', '{"name":"x"}'],
  '{"id":<id>,"name":"<name>","tag":?}': ['null', '2', 'false', '["x"]', '{}'],
  // U+0000 and unpaired surrogates.
  '{"id":<id>,"name":"<name>?"}': ['\\u0000b', '","tag":"\\u0000', '\\ud800', '\\udc00x', '","tag":"\\udc00\\ud800'],
};

export const plantChecks: Checks = {
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
  'create-visible MUST list plants as soon as they are created, even with equal names': async (c, plant) => {
    const plants = [plant, { ...plant, id: c.newId() }];
    await mustCreate(c.a, ...plants);
    await expectMine(c, plants);
  },
  'taken-id MUST respond with 400 to a NewPlant whose id is taken, and keep the stored plant': async (c, plant) => {
    const stored = { ...plant, tag: 'first' };
    await mustCreate(c.a, stored);
    await expectError(c.a.create(stored), 400);
    await expectError(c.a.create({ ...c.newPlant(plant.id), tag: 'second' }), 400);
    await expectStored(c, stored);
  },
  'delete-204 MUST respond to DELETE with 204 and no body, and free the id of the plant': async (c) => {
    const [kept, plant] = [await createPlant(c), await createPlant(c)];
    const removed = await expectStatus(c.a.remove(plant.id), 204);
    expect(removed.text === '', removed, 'no body');
    await expectMine(c, [kept]);
    await expectPlant(c.a.create(plant), plant);
  },
  'delete-absent MUST respond with 404 to the DELETE of a plant that does not exist': async (c, { id }) => {
    await expectError(c.a.remove(id), 404);
    const plant = await createPlant(c);
    await c.a.remove(plant.id);
    await expectError(c.a.remove(plant.id), 404);
  },
  'delete-invalid-id MUST respond with 400 to an id that is not a decimal int64': async (c) => {
    const { id } = await createPlant(c);
    await inTurn([...invalidIds(id), maxInt64 + 1n, minInt64 - 1n], (each) => expectError(c.a.remove(each), 400));
  },
  'int64-exact MUST create and delete exactly the given id, even above 2^53': async (c) => {
    const id = c.newLargeId();
    await createAt(c, id);
    await expectError(c.a.remove(id + 1n), 404);
    const kept = await createAt(c, id + 1n);
    await expectStatus(c.a.remove(id), 204);
    await expectMine(c, kept);
  },
  'int64-range MUST accept ids from -2^63 to 2^63-1, including 0 and negative ids': (c, plant) =>
    inTurn([minInt64, -plant.id, 0n, maxInt64], async (id) => {
      await expectMine(c, await createAt(c, id));
      await expectStatus(c.a.remove(id), 204);
    }),
  'int64-out-of-range MUST respond with 400 to a NewPlant with an id outside int64': (c) =>
    inTurn([maxInt64 + 1n, minInt64 - 1n, 2n ** 64n, 10n ** 30n, '1e400', '-1e400', '1e999999999', '1E+19'], (id) =>
      expectError(c.a.post(`{"id":${id},"name":"Fern"}`), 400),
    ),
  'int64-notations MUST accept an integral id with a fraction part or an exponent, even above 2^53': async (c) => {
    const [thousands, large] = [c.newId(2000) / 1000n + 1n, c.newLargeId() + 1n];
    const notations = {
      [`${thousands}000`]: [`${thousands}000.0`, `${thousands}e3`, `${thousands}00.0E+1`],
      [`${large}`]: [`${large}.000`, `${large}0e-1`, `0.${large}e${String(large).length}`],
    };
    for (const [id, each] of Object.entries(notations)) {
      for (const notation of each) {
        const { name } = c.newPlant();
        await expectPlant(c.a.post(`{"id":${notation},"name":"${name}"}`, BigInt(id)), { name });
        await expectStatus(c.a.remove(id), 204);
      }
    }
  },
  'string-exact MUST store every name and tag unchanged': (c) =>
    inTurn(texts, async (text) => {
      const plant = { id: c.newId(), name: text, tag: text };
      await expectPlant(c.a.create(plant), plant);
      await expectStored(c, plant);
    }),
  'invalid-plant MUST respond with 400 to JSON that is not a NewPlant, and create nothing': async (c, { id, name }) => {
    for (const [template, values] of Object.entries(invalidPlants)) {
      for (const value of values) {
        const body = template.replace('?', value).replaceAll('<id>', String(id)).replaceAll('<name>', name);
        await expectError(c.a.post(body, id), 400);
      }
    }
    await expectMine(c, []);
  },
  'body-missing MUST respond with 400 to POST /plants without a body': async ({ a }) => {
    await expectError(a.post(undefined, undefined, { 'content-type': 'application/json' }), 400);
    await expectError(a.post(undefined), 400);
  },
  'body-malformed MUST respond with 400 to a body that is not JSON in UTF-8 [RFC 8259]': ({ a }, plant) =>
    inTurn(malformedJson(plant), (body) => expectError(a.post(body), 400)),
  'body-media-type MUST respond with 400 to a body of another media type, or without one': (c) =>
    inTurn(otherMediaTypes, (type) => expectError(c.a.create(c.newPlant(), { 'content-type': type }), 400)),
  'body-too-large MUST respond to a body of 1 MiB with 200 or 400, and store the plant only with 200': async (c) => {
    for (let attempt = 1; ; attempt++) {
      const plant = { ...c.newPlant(), tag: 'x'.repeat(1_048_576) };
      // A response is lost if the server closes the connection while it still receives the body.
      const sent = await c.a.create(plant).catch((error: unknown) => {
        if (attempt === 5) throw error;
      });
      if (sent === undefined) continue;
      await expectStatus(sent, 200, 400);
      if (sent.status === 400) await expectError(sent, 400);
      await expectMine(c, sent.status === 400 ? [] : [plant]);
      return;
    }
  },
  'body-deeply-nested MUST respond with 200 or 400 to a body with 20,000 levels of nesting': ({ a }, { id, name }) => {
    const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    return expectStatus(a.post(`{"x":${nested},"id":${id},"name":"${name}"}`, id), 200, 400);
  },
};
