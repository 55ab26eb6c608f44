import fc from 'fast-check';
import { maxInt64, minInt64 } from '../../src/core/model/int64.ts';

/** A well-formed request. Generated cases are printed, so a body is a text. */
export interface SentRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the body, as latin1. */
  readonly body?: string;
}

export const maxBodyBytes = 65_536;

/** Generates a value from `usual` seven times out of eight, and otherwise from `other`. */
function usually<T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 7, arbitrary: usual }, { weight: 1, arbitrary: other });
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** Generates one of a few ids, so that requests conflict, or a limit of int64 or of a double. */
const idText = fc.oneof(
  { weight: 3, arbitrary: fc.bigInt({ min: 1n, max: 4n }).map(String) },
  { weight: 1, arbitrary: fc.constantFrom(0n, 2n ** 53n, 2n ** 53n + 1n, minInt64, maxInt64).map(String) },
);
const oddIds = words(`9223372036854775808 -9223372036854775809 007 -0 +1 1.0 1e0 0x1 1n
  %31 %2d1 %2531 %00 %ff % %zz 1%20 %d9%a3 1;x a - ~`);
const oddNumbers = words(`0 1000 1001 2147483647 2147483648 -1 01 %2B1 1%20 1.0 1e2 0x1 NaN %31
  99999999999999999999 9223372036854775808`);
const otherPaths = words('/ //plants /plants/ /plants/1/2 /plants%00 /plants;x /PLANTS /%70lants /openapi.json/');

const parameter = fc.tuple(
  usually(fc.constantFrom('limit', 'after'), fc.constantFrom('', 'Limit', 'li%6dit', 'limit[]', '__proto__')),
  fc.oneof(idText, fc.constantFrom('', '1', '2', '3', ...oddNumbers)),
);
const query = fc
  .array(parameter, { maxLength: 3 })
  .map((all) => (all.length === 0 ? '' : `?${all.map((pair) => pair.join('=')).join('&')}`));

const listTarget = query.map((text) => `/plants${text}`);
const plantTarget = fc
  .tuple(usually(idText, fc.constantFrom(...oddIds)), query)
  .map(([id, end]) => `/plants/${id}${end}`);
const anyTarget = fc.oneof(listTarget, plantTarget, fc.constantFrom('/openapi.json', '/openapi.json?x', ...otherPaths));
const anyMethod = fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'PUT', 'POST', 'PATCH', 'DELETE');
const line = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant('POST'), listTarget) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('DELETE'), plantTarget) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom('GET', 'HEAD'), listTarget) },
  { weight: 1, arbitrary: fc.tuple(anyMethod, anyTarget) },
);

const name = usually(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.constantFrom('\0', '\ud800', '\u2028', '\uFEFF')),
).map((text) => JSON.stringify(text));
const jsonId = usually(idText, fc.oneof(fc.constantFrom(...words('1.0 10e-1 1e18 1.5 1e400 01 "1" null')), fc.json()));
const member = fc.oneof(
  fc.tuple(fc.constant('"tag"'), name),
  fc.tuple(fc.constantFrom(...words('"id" "\\u0069d" "name" "tag" "ID" "__proto__" "x"')), fc.oneof(jsonId, fc.json())),
);

/** The text of a NewPlant, whose members can be repeated and can have other types. */
const plantText = fc
  .tuple(jsonId, name, usually(fc.array(member, { maxLength: 1 }), fc.array(member, { maxLength: 4 })))
  .map(([id, text, more]) => [['"id"', id], ['"name"', text], ...more].map((pair) => pair.join(':')).join(','))
  .map((members) => `{${members}}`);
/** The text of a NewPlant with a byte that is not part of valid JSON or UTF-8 at a random place. */
const brokenPlant = fc
  .tuple(plantText, fc.nat(), fc.constantFrom('\xff', '\xed\xa0\x80', '\xc0\x80', '\xef\xbb\xbf', '\x1f', '{', ','))
  .map(([text, n, odd]) => {
    const at = n % text.length;
    return asBytes(text.slice(0, at)) + odd + asBytes(text.slice(at));
  });
const longPlant = fc.integer({ min: -2, max: 2 }).map((over) => '{"id":2,"name":"long"}'.padEnd(maxBodyBytes + over));
const body = usually(plantText.map(asBytes), fc.oneof(brokenPlant, longPlant, fc.json().map(asBytes)));

/** Returns the UTF-8 bytes of a text as latin1. */
function asBytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}

const mediaTypes = ['application/json; charset=utf-16', 'text/plain', 'Application/JSON;charset="UTF-8"'];

/** Generates a request with one of these tokens. Most requests are correct. */
export function requestWith(tokens: readonly string[]): fc.Arbitrary<SentRequest> {
  const bearer = fc.constantFrom(...tokens).map((token) => `Bearer ${token}`);
  const otherCredentials = fc.constantFrom('Basic YWRhOg==', 'Bearer nobody', 'Bearer', `bearer  ${tokens[0] ?? ''}`);
  const mediaType = usually(fc.constant('application/json'), fc.constantFrom(...mediaTypes));
  return fc
    .tuple(line, usually(bearer, otherCredentials), mediaType, body)
    .map(([[method, target], authorization, type, content]) => {
      if (method !== 'POST') return { method, target, headers: { authorization } };
      return { method, target, headers: { authorization, 'content-type': type }, body: content };
    });
}
