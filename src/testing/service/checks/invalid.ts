import { newPlantJson } from '../client.ts';
import type { NewPlant, User } from '../client.ts';
import type { Exchange } from '../exchange.ts';
import {
  createPlant,
  expect,
  expectCode,
  expectError,
  expectJson,
  expectMine,
  expectStatus,
  fieldsOf,
} from '../expect.ts';
import { inTurn } from '../expect.ts';
import type { Check, Checks } from '../expect.ts';
import { tokenPattern } from '../failure.ts';
import { failAll, failures } from './bad-input.ts';

/** A request body that is neither JSON nor declared as JSON. */
const garbage = { body: 'x', headers: { 'content-type': 'text/plain' } };

/** Media types that a server must refuse, including JSON in a charset other than UTF-8. */
const otherMediaTypes = [
  ...['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'application/jsonp'],
  ...['application/vnd.api+json', 'application/json; charset=latin1', undefined],
];

/** Returns bodies that are not JSON in UTF-8. Most of them are derived from the JSON of a plant. */
function malformedJson(plant: NewPlant): (string | Uint8Array<ArrayBuffer>)[] {
  const json = newPlantJson(plant);
  const cut = [json.slice(0, -1), `${json}}`, `${json},`, json.replaceAll('"', "'"), json.replace(/\}$/, ',}')];
  const numbers = ['0', '+'].map((sign) => json.replace(/:(\d+)/, `:${sign}$1`));
  const latin1 = Uint8Array.from(`{"id":${plant.id},"name":"L\u00f6wenzahn"}`, (character) => character.charCodeAt(0));
  return ['{', 'id=1', ...cut, `// a comment\n${json}`, ...numbers, latin1];
}

type InvalidPlants = (id: bigint, name: string) => string[];

/** Replaces `?` in the template with each of the values. */
function fill(template: string, values: readonly string[]): string[] {
  return values.map((value) => template.replace('?', () => value));
}

const invalidPlants: Readonly<Record<string, InvalidPlants>> = {
  'invalid-not-an-object MUST respond with 400 to a body that is not a JSON object': (_, name) =>
    fill('?', ['null', '[]', `"${name}"`, '1', 'true', '["id","name"]']),
  'invalid-missing-id MUST respond with 400 to a NewPlant without an id': (_, name) =>
    fill('{?}', [`"name":"${name}"`, '', `"ID":1,"name":"${name}"`, '"__proto__":{"id":1,"name":"x"}']),
  'invalid-missing-name MUST respond with 400 to a NewPlant without a name': (id) =>
    fill(`{"id":${id}?}`, ['', ',"tag":"x"', ',"Name":"x"']),
  'invalid-id-type MUST respond with 400 to an id that is not a number': (id, name) =>
    fill(`{"id":?,"name":"${name}"}`, [`"${id}"`, 'null', 'true', `[${id}]`, `{"id":${id}}`, '""']),
  'invalid-id-fraction MUST respond with 400 to an id that is not integral': (id, name) =>
    fill(`{"id":?,"name":"${name}"}`, [`${id}.5`, `${id}.00000000000000000001`, `${id}5e-1`, `-${id}.25`]),
  'invalid-name-type MUST respond with 400 to a name that is not a string': (id) =>
    fill(`{"id":${id},"name":?}`, ['null', '2', 'true', '["x"]', '{"name":"x"}']),
  'invalid-tag-type MUST respond with 400 to a tag that is not a string': (id, name) =>
    fill(`{"id":${id},"name":"${name}","tag":?}`, ['null', '2', 'false', '["x"]', '{}']),
  'invalid-text MUST respond with 400 to U+0000 and to unpaired surrogates': (id, name) =>
    fill(`{"id":${id},"name":"${name}?"}`, [
      ...['\\u0000b', '","tag":"\\u0000', '\\ud800', '\\udc00x', '","tag":"\\udc00\\ud800'],
    ]),
};

function refuses(plants: InvalidPlants): Check {
  return async (c, { id, name }) => {
    // A faulty server might store a plant under one of the ids that are passed to `post`.
    await inTurn(plants(id, name), (body) => expectError(c.a.post(body, id, id + 1n, -id, -id - 1n), 400));
    await expectMine(c, []);
  };
}

export const invalidPlantChecks: Checks = {
  ...Object.fromEntries(Object.entries(invalidPlants).map(([title, plants]) => [title, refuses(plants)])),
  'body-missing MUST respond with 400 to POST /plants without a body': async ({ a }) => {
    await expectError(a.send('POST /plants', { headers: { 'content-type': 'application/json' } }), 400);
    await expectError(a.send('POST /plants'), 400);
  },
  'body-malformed MUST respond with 400 to a body that is not JSON in UTF-8 [RFC 8259]': ({ a }, plant) =>
    inTurn(malformedJson(plant), (body) => expectError(a.post(body, plant.id), 400)),
  'body-media-type MUST respond with 400 to a body of another media type, or without one': (c) =>
    inTurn(otherMediaTypes, (type) => expectError(c.a.create(c.newPlant(), { 'content-type': type }), 400)),
  'body-too-large MUST respond to a body of 1 MiB with 200 or 400': async ({ a }, plant) => {
    const sent = await expectStatus(a.create({ ...plant, tag: 'x'.repeat(1_048_576) }), 200, 400);
    if (sent.status === 400) await expectError(sent, 400);
  },
  'body-deeply-nested MUST respond to a body that nests 20,000 levels with 200 or 400': ({ a }, { id, name }) => {
    const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    return expectStatus(a.post(`{"x":${nested},"id":${id},"name":"${name}"}`, id), 200, 400);
  },
};

export const errorChecks: Checks = {
  'error-body MUST send an Error with a message, and an integer of status × 100 + n, with every error': async (c) =>
    inTurn(await failAll(c), async (sent) => {
      const integer = await expectError(sent, sent.status);
      const isDerived = Math.floor(integer / 100) === sent.status;
      expect(isDerived, sent, `an error from ${sent.status}00 to ${sent.status}99`);
      expect(String(fieldsOf(expectJson(sent))['message']).trim() !== '', sent, 'a message that is not empty');
    }),
  'error-unknown-path MUST respond to an unknown path with 404': ({ a }) =>
    inTurn(['/', '/plants/', '/Plants', '/plants/1/2', '/plant', '/openapi'], (target) =>
      expectError(a.send(`GET ${target}`), 404),
    ),
  'error-no-leak MUST NOT repeat the token in an error response [RFC 6750 §5.3]': async (c) => {
    const { a, b } = c.tokens;
    const provoke = async (user: User, token: string): Promise<Exchange[]> => [
      await c.anonymous.list('', { authorization: `Bearer ${token},` }),
      ...(await failAll(c, user)),
    ];
    const sentToB = await provoke(c.b, b);
    for (const [index, exchange] of (await provoke(c.a, a)).entries()) {
      // A short token might also be a word in the message. If so, the response to user B contains this word, too.
      const isWord = tokenPattern(a).test(sentToB[index]?.text ?? '');
      expect(isWord || !tokenPattern(a).test(exchange.text), exchange, 'a body without the token');
    }
  },
};

export const errorCodeChecks: Checks = {
  ...Object.fromEntries(
    Object.entries(failures).map(([integer, [name, fail]]): [string, Check] => [
      `${name} SHOULD use the error ${integer}`,
      (c, plant) => expectCode(fail(c, c.a, plant), Number(integer)),
    ]),
  ),
  'code-insufficient-scope SHOULD use the error 40300': (c, { id }) => expectCode(c.readOnly().remove(id), 40300),
  'code-shape-before-state SHOULD use the error 40002 for an invalid NewPlant whose id is taken': async (c) => {
    const { id } = await createPlant(c);
    await expectCode(c.a.post(`{"id":${id}}`, id), 40002);
  },
};

export const orderChecks: Checks = {
  'order-path MUST check the path before the credentials': ({ anonymous }) =>
    inTurn(['GET', 'PATCH'], (method) => expectError(anonymous.send(`${method} /no-such-path`), 404)),
  'order-method MUST check the method before the credentials': ({ anonymous }) =>
    expectError(anonymous.send('PATCH /plants'), 405),
  'order-credentials MUST check the credentials before the body, the query string and the id': async ({
    anonymous,
  }) => {
    await inTurn([garbage, { body: '{}' }], (parts) => expectError(anonymous.send('POST /plants', parts), 401));
    await inTurn(['limit', 'after'], (name) => expectError(anonymous.list(`${name}=x`), 401));
    await expectError(anonymous.remove('x'), 401);
  },
  'order-scope MUST check the scope before the body and the id': async (c) => {
    await expectError(c.readOnly().send('POST /plants', garbage), 403);
    await expectError(c.readOnly().remove('x'), 403);
  },
};
