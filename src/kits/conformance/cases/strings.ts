import { must, plantStore } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import type { CheckClient } from '../check-client.ts';
import { expectPlant, expectPlants } from '../expect.ts';

const source = plantStore('name, tag');

/** Stores each string as a name and as a tag. Checks that the response and the list contain the string unchanged. */
async function expectKept(client: CheckClient, texts: readonly string[], encode = JSON.stringify): Promise<void> {
  for (const text of texts) {
    const id = client.newId();
    const plant = { name: text, tag: text };
    expectPlant(await client.a.post(`{"id":${id},"name":${encode(text)},"tag":${encode(text)}}`, [id]), plant);
    expectPlants(await client.a.list(`after=${id - 1n}&limit=1`), [plant]);
  }
}

/** Returns a JSON string in which every UTF-16 code unit is escaped. */
function escapeAll(text: string): string {
  const units = text.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `"${units.join('')}"`;
}

function keeps(id: string, what: string, texts: readonly string[], encode?: typeof JSON.stringify): CheckCase {
  return must(id, `keep ${what} unchanged`, source, (client) => expectKept(client, texts, encode));
}

/** Checks of names and tags that a server may alter by mistake. */
export const stringCases: readonly CheckCase[] = [
  keeps('string-beyond-bmp', 'characters beyond U+FFFF', ['\u{1F33F}', '\u{1F469}\u200D\u{1F33E}', '\u{10FFFF}']),
  keeps('string-normalization', 'composed and decomposed characters', ['\u00E9', 'e\u0301', '\uFB01', '\u212B', 'ß']),
  keeps('string-white-space', 'white space', [
    ' ',
    '  x  ',
    '\n',
    'a\r\nb',
    '\t',
    '\u00A0',
    '\u3000',
    '\uFEFF',
    '\u2028',
  ]),
  keeps('string-control-characters', 'control characters', [
    '\u0001',
    '\b\f',
    '\u001B[2J',
    '\u007F',
    '\u0085',
    '\u202E',
  ]),
  keeps('string-noncharacters', 'noncharacters and the replacement character', [
    '\uFFFD',
    '\uFFFE',
    '\uFFFF',
    '\uFDD0',
  ]),
  keeps('string-quotes', 'quotation marks and backslashes', [
    '"',
    '\\',
    '\\n',
    '\\u0041',
    "'",
    '`',
    '"}',
    '","tag":"x',
  ]),
  keeps('string-other-types', 'text that looks like a value of another type', [
    'null',
    'true',
    '1',
    '1e3',
    '0x10',
    '[]',
    '{}',
  ]),
  keeps('string-markup', 'text that looks like code', [
    '<b>&amp;</b>',
    '%20',
    '${x}',
    "'; DROP TABLE plants; --",
    '../x',
    '%s',
  ]),
  keeps('string-escapes', 'strings whose characters are all escaped', ['Fern', '\u{1F33F}', '"\\/\b'], escapeAll),
];
