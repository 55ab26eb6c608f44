import { newPlantJson } from '../client.ts';
import type { NewPlant } from '../client.ts';
import { expectError, expectMine, expectStatus, inTurn } from '../expect.ts';
import type { Check, Checks } from '../expect.ts';

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

/** Returns a check that sends `template` with each value for `?`, and with the plant's `<id>` and `<name>`. */
function refuses(template: string, values: readonly string[]): Check {
  return async (c, { id, name }) => {
    for (const value of values) {
      const body = template.replace('?', value).replaceAll('<id>', String(id)).replaceAll('<name>', name);
      await expectError(c.a.post(body), 400);
    }
    await expectMine(c, []);
  };
}

export const createFailureChecks: Checks = {
  'invalid-not-an-object MUST respond with 400 to a body that is not a JSON object': refuses('?', [
    ...['null', '[]', '"<name>"', '1', 'true', '["id","name"]'],
  ]),
  'invalid-missing-id MUST respond with 400 to a NewPlant without an id': refuses('{?"name":"<name>"}', [
    ...['', '"ID":<id>,', '"__proto__":{"id":<id>},'],
  ]),
  'invalid-missing-name MUST respond with 400 to a NewPlant without a name': refuses('{"id":<id>?}', [
    ...['', ',"tag":"x"', ',"Name":"x"'],
  ]),
  'invalid-id-type MUST respond with 400 to an id that is not a number': refuses('{"id":?,"name":"<name>"}', [
    ...['"<id>"', 'null', 'true', '[<id>]', '{"id":<id>}', '""'],
  ]),
  'invalid-id-fraction MUST respond with 400 to an id that is not integral': refuses('{"id":<id>?,"name":"<name>"}', [
    ...['.5', '.00000000000000000001', '5e-1'],
  ]),
  'invalid-name-type MUST respond with 400 to a name that is not a string': refuses('{"id":<id>,"name":?}', [
    ...['null', '2', 'true', '["x"]', '{"name":"x"}'],
  ]),
  'invalid-tag-type MUST respond with 400 to a tag that is not a string': refuses(
    '{"id":<id>,"name":"<name>","tag":?}',
    ['null', '2', 'false', '["x"]', '{}'],
  ),
  'invalid-text MUST respond with 400 to U+0000 and to unpaired surrogates': refuses('{"id":<id>,"name":"<name>?"}', [
    ...['\\u0000b', '","tag":"\\u0000', '\\ud800', '\\udc00x', '","tag":"\\udc00\\ud800'],
  ]),
  'body-missing MUST respond with 400 to POST /plants without a body': async ({ a }) => {
    await expectError(a.send('POST /plants', { headers: { 'content-type': 'application/json' } }), 400);
    await expectError(a.send('POST /plants'), 400);
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
  'body-deeply-nested MUST respond to a body that nests 20,000 levels with 200 or 400': ({ a }, { id, name }) => {
    const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    return expectStatus(a.post(`{"x":${nested},"id":${id},"name":"${name}"}`, id), 200, 400);
  },
};
