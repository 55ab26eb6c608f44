import { maxInt64, minInt64 } from '../../../src/core/model/plant.ts';
import type { Client } from '../client.ts';
import { createAt, expectError, expectMine, expectPlant, expectStatus, expectStored, inTurn } from '../expect.ts';
import type { Checks } from '../expect.ts';

/** Creates a plant whose id is written in a notation such as `1e3`. Checks that the stored plant has the id `id`. */
async function expectSameId(c: Client, id: bigint, notation: string): Promise<void> {
  const { name } = c.newPlant();
  await expectPlant(c.a.post(`{"id":${notation},"name":"${name}"}`, id), { name });
  await expectStatus(c.a.remove(id), 204);
}

export const int64Checks: Checks = {
  'int64-exact MUST create and delete exactly the given id, also over 2^53': async (c) => {
    const id = c.newLargeId();
    await createAt(c, id);
    await expectError(c.a.remove(id + 1n), 404);
    const kept = await createAt(c, id + 1n);
    await expectStatus(c.a.remove(id), 204);
    await expectMine(c, kept);
  },
  'int64-range MUST accept ids from -2^63 to 2^63-1, also 0 and negative ones': (c, plant) =>
    inTurn([minInt64, -plant.id, 0n, maxInt64], async (id) => {
      await expectMine(c, await createAt(c, id));
      await expectStatus(c.a.remove(id), 204);
    }),
  'int64-out-of-range MUST respond with 400 to the POST of an id beyond int64': (c) =>
    inTurn([maxInt64 + 1n, minInt64 - 1n, 2n ** 64n, 10n ** 30n, '1e400', '-1e400', '1e999999999', '1E+19'], (id) =>
      expectError(c.a.post(`{"id":${id},"name":"Fern"}`), 400),
    ),
  'int64-notations MUST accept an integral id with a fraction part or an exponent, also over 2^53': async (c) => {
    const [thousands, large] = [c.newId(2000) / 1000n + 1n, c.newLargeId() + 1n];
    await inTurn([`${thousands}000.0`, `${thousands}e3`, `${thousands}00.0E+1`], (notation) =>
      expectSameId(c, thousands * 1000n, notation),
    );
    await inTurn([`${large}.000`, `${large}0e-1`, `0.${large}e${String(large).length}`], (notation) =>
      expectSameId(c, large, notation),
    );
  },
};

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

export const stringChecks: Checks = {
  'string-exact MUST keep every name and tag as it is': (c) =>
    inTurn(texts, async (text) => {
      const plant = { id: c.newId(), name: text, tag: text };
      await expectPlant(c.a.create(plant), plant);
      await expectStored(c, plant);
    }),
};
