import { maxInt64, minInt64 } from '../../../core/model/int64.ts';
import type { CheckClient } from '../check-client.ts';
import { expectError, expectPlant, expectPlants, expectStatus } from '../expect.ts';
import { checksOf, inTurn } from '../run-cases.ts';
import type { Check, CheckCase } from '../run-cases.ts';

/** Returns a check that verifies that a plant with this id can be created, listed and deleted. */
function accepts(id: bigint): Check {
  return async (c) => {
    await c.expectMine([await c.createAtFixedId(id)]);
    await expectStatus(c.a.remove(id), 204);
  };
}

/** Creates a plant whose id is written in a notation such as `1e3`. Checks that the stored plant has the id `id`. */
async function expectSameId(client: CheckClient, id: bigint, notation: string): Promise<void> {
  const name = client.newName();
  await expectPlant(client.a.post(`{"id":${notation},"name":"${name}"}`, id), { name });
  await expectError(client.a.create(client.newPlant(id)), 400);
  await expectStatus(client.a.remove(id), 204);
}

export const int64Cases: readonly CheckCase[] = checksOf('int64', {
  'int64-neighbours MUST keep apart ids over 2^53 that a double would merge': async (c) => {
    const id = c.newLargeId();
    const plants = [id, id + 1n].map((each) => c.newPlant(each));
    for (const plant of plants) await expectStatus(c.a.create(plant), 200);
    await expectPlants(c.a.list(`after=${id - 1n}&limit=2`), plants);
  },
  'int64-delete-exact MUST delete exactly the id in the path, also over 2^53': async (c) => {
    const id = c.newLargeId();
    await c.createAt(id);
    await expectError(c.a.remove(id + 1n), 404);
    const kept = await c.createAt(id + 1n);
    await expectStatus(c.a.remove(id), 204);
    await c.expectMine(kept);
  },
  'int64-after-exact MUST compare after exactly, also over 2^53': async (c) => {
    const id = c.newLargeId();
    const plants = await c.createAt(id, id + 1n);
    await expectPlants(c.a.list(`after=${id}&limit=1`), plants.slice(1));
  },
  'int64-largest MUST accept the id 2^63-1': accepts(maxInt64),
  'int64-smallest MUST accept the id -2^63': accepts(minInt64),
  'int64-zero MUST accept the id 0': accepts(0n),
  'int64-negative MUST accept negative ids': async (c, { id, name }) => {
    await c.expectCreated({ id: -id, name });
    await expectStatus(c.a.remove(-id), 204);
  },
  'int64-out-of-range MUST respond with 400 to an id beyond int64': async (c) => {
    // A faulty server might store a plant with the smallest or the largest int64 as its id. Such a plant is deleted
    // after the check, so the check is not run if the user already has a plant with one of these ids.
    for (const limit of [minInt64, maxInt64]) {
      await c.createAtFixedId(limit);
      await c.a.remove(limit);
    }
    for (const id of [maxInt64 + 1n, minInt64 - 1n, 2n ** 64n, 10n ** 30n]) {
      await expectError(c.a.post(`{"id":${id},"name":"${c.newName()}"}`, id, minInt64, maxInt64), 400);
    }
  },
  'int64-huge-exponent MUST respond with 400 to an id such as 1e400': (c) =>
    inTurn(['1e400', '-1e400', '1e999999999', '1E+19'], (id) =>
      expectError(c.a.post(`{"id":${id},"name":"${c.newName()}"}`, 10n ** 19n), 400),
    ),
  'int64-integral-fraction MUST accept an integral id with a fraction part, such as 5.0': (c, { id }) =>
    expectSameId(c, id, `${id}.0`),
  'int64-exponent MUST accept an integral id with an exponent, such as 1e3': async (c) => {
    const thousands = c.newId(2000) / 1000n + 1n;
    await expectSameId(c, thousands * 1000n, `${thousands}e3`);
    await expectSameId(c, thousands * 1000n, `${thousands}00.0E+1`);
  },
  'int64-exact-notations MUST keep an id over 2^53 exact in every notation': (c) => {
    const id = c.newLargeId() + 1n;
    const notations = [`${id}.000`, `${id}0e-1`, `0.${id}e${String(id).length}`];
    return inTurn(notations, (notation) => expectSameId(c, id, notation));
  },
  'int64-order MUST order ids as numbers, not as text [order, paging]': async (c) => {
    const id = c.newId(2);
    // If ids were sorted as text, -1 would come before -2.
    const ids = [-c.newLargeId(), -id - 1n, -id, id, id + 1n, c.newLargeId()];
    const plants = (await c.createAt(...ids.toReversed())).toReversed();
    await c.expectMine(plants);
  },
});

/** Returns a JSON string in which every UTF-16 code unit is escaped. */
function escapeAll(text: string): string {
  const units = text.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `"${units.join('')}"`;
}

/** Returns a check that stores each string as a name and as a tag. The response and the list must not change it. */
function keeps(texts: readonly string[], encode: (text: string) => string = JSON.stringify): Check {
  return async (c) => {
    for (const text of texts) {
      const plant = { id: c.newId(), name: text, tag: text };
      const json = encode(text);
      await expectPlant(c.a.post(`{"id":${plant.id},"name":${json},"tag":${json}}`, plant.id), plant);
      await c.expectStored(plant);
    }
  };
}

const beyondBmp = ['\u{1F33F}', '\u{1F469}\u200D\u{1F33E}', '\u{10FFFF}'];
const normalizable = ['\u00E9', 'e\u0301', '\uFB01', '\u212B', 'ß'];
const whiteSpace = [' ', '  x  ', '\n', 'a\r\nb', '\t', '\u00A0', '\u3000', '\uFEFF', '\u2028'];
const controlCharacters = ['\u0001', '\b\f', '\u001B[2J', '\u007F', '\u0085', '\u202E'];
const nonCharacters = ['\uFFFD', '\uFFFE', '\uFFFF', '\uFDD0'];
const quotes = ['"', '\\', '\\n', '\\u0041', "'", '`', '"}', '","tag":"x'];
const otherTypes = ['null', 'true', '1', '1e3', '0x10', '[]', '{}'];
const code = ['<b>&amp;</b>', '%20', '${x}', "'; DROP TABLE plants; --", '../x', '%s'];
const escaped = ['Fern', '\u{1F33F}', '"\\/\b'];

export const stringCases: readonly CheckCase[] = checksOf('name, tag', {
  'string-beyond-bmp MUST keep characters beyond U+FFFF unchanged': keeps(beyondBmp),
  'string-normalization MUST keep composed and decomposed characters unchanged': keeps(normalizable),
  'string-white-space MUST keep white space unchanged': keeps(whiteSpace),
  'string-control-characters MUST keep control characters unchanged': keeps(controlCharacters),
  'string-noncharacters MUST keep noncharacters and the replacement character unchanged': keeps(nonCharacters),
  'string-quotes MUST keep quotation marks and backslashes unchanged': keeps(quotes),
  'string-other-types MUST keep text that looks like a value of another type unchanged': keeps(otherTypes),
  'string-markup MUST keep text that looks like code unchanged': keeps(code),
  'string-escapes MUST keep strings whose characters are all escaped unchanged': keeps(escaped, escapeAll),
});
