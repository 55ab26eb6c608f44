import type { CheckClient } from '../check-client.ts';
import { newPlantJson } from '../check-user.ts';
import type { CheckUser, NewPlant } from '../check-user.ts';
import type { Exchange } from '../exchange.ts';
import { expect, expectCode, expectError, expectJson, expectStatus, fieldsOf } from '../expect.ts';
import { containsToken } from '../redact.ts';
import { checksOf, inTurn } from '../run-cases.ts';
import type { Check, CheckCase } from '../run-cases.ts';
import { failAll, invalidAfters, invalidIds, invalidLimits, unknownToken } from './bad-input.ts';

/** A request body that is neither JSON nor declared as JSON. */
const garbage = { body: 'x', headers: { 'content-type': 'text/plain' } };

/** Media types that a server must refuse, including JSON in a charset other than UTF-8. */
const otherMediaTypes = [
  ...['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'application/jsonp'],
  ...['application/vnd.api+json', 'application/json; charset=latin1'],
];

/** Returns texts that are not JSON. Most of them are derived from the JSON of a plant. */
function malformedJson(plant: NewPlant): string[] {
  const json = newPlantJson(plant);
  const cut = [json.slice(0, -1), `${json}}`, `${json},`, json.replaceAll('"', "'"), json.replace(/\}$/, ',}')];
  const numbers = ['0', '+'].map((sign) => json.replace(/:(\d+)/, `:${sign}$1`));
  return ['{', 'id=1', ...cut, `// a comment\n${json}`, ...numbers];
}

/** Returns a plant as JSON that is encoded in ISO 8859-1. The bytes of the plant's name are not valid UTF-8. */
function latin1Plant({ id }: NewPlant): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(`{"id":${id},"name":"Löwenzahn"}`, (character) => character.charCodeAt(0));
}

/**
 * Returns bodies that are JSON but not a valid NewPlant. `id` must be an id that only this check uses. `name` must not
 * contain characters that JSON escapes.
 */
type InvalidPlants = (id: bigint, name: string) => string[];

/** Returns one copy of the template for each value, in which the value replaces `?`. */
function fill(template: string, values: readonly string[]): string[] {
  return values.map((value) => template.replace('?', () => value));
}

/**
 * The ways in which a NewPlant can be invalid. A key contains the id of a check and a description of the invalid
 * plants. The source of the rule follows in brackets if it is not the default.
 */
const invalidPlants: Readonly<Record<string, InvalidPlants>> = {
  'invalid-not-an-object a body that is not a JSON object': (_, name) =>
    fill('?', ['null', '[]', `"${name}"`, '1', 'true', '["id","name"]']),
  'invalid-missing-id a NewPlant without an id [NewPlant]': (_, name) =>
    fill('{?}', [`"name":"${name}"`, '', `"ID":1,"name":"${name}"`, '"__proto__":{"id":1,"name":"x"}']),
  'invalid-missing-name a NewPlant without a name [NewPlant]': (id) =>
    fill(`{"id":${id}?}`, ['', ',"tag":"x"', ',"Name":"x"']),
  'invalid-id-type a NewPlant whose id is not a number [int64]': (id, name) =>
    fill(`{"id":?,"name":"${name}"}`, [`"${id}"`, 'null', 'true', `[${id}]`, `{"id":${id}}`, '""']),
  'invalid-id-fraction a NewPlant whose id is not integral [int64]': (id, name) =>
    fill(`{"id":?,"name":"${name}"}`, [`${id}.5`, `${id}.00000000000000000001`, `${id}5e-1`, `-${id}.25`]),
  'invalid-name-type a NewPlant whose name is not a string': (id) =>
    fill(`{"id":${id},"name":?}`, ['null', '2', 'true', '["x"]', '{"name":"x"}']),
  'invalid-tag-type a NewPlant whose tag is not a string': (id, name) =>
    fill(`{"id":${id},"name":"${name}","tag":?}`, ['null', '2', 'false', '["x"]', '{}']),
  'invalid-text U+0000 and unpaired surrogates in strings [name, tag]': (id, name) =>
    fill(`{"id":${id},"name":"${name}?"}`, [
      ...['\\u0000b', '","tag":"\\u0000', '\\ud800', '\\udc00x', '","tag":"\\udc00\\ud800'],
    ]),
};

/**
 * Sends invalid plants, and yields the exchanges. A faulty server might store a plant under one of the ids that are
 * passed to `post`, so plants with these ids are deleted after the check.
 */
async function* postAll(client: CheckClient, id: bigint, plants: InvalidPlants): AsyncGenerator<Exchange> {
  for (const body of plants(id, client.newName())) yield client.a.post(body, id, id + 1n, -id, -id - 1n);
}

/** Returns a check that verifies that the server refuses these plants and stores nothing. */
function refuses(plants: InvalidPlants): Check {
  return async (c) => {
    const id = c.newId(2);
    for await (const sent of postAll(c, id, plants)) await expectError(sent, 400);
    await c.expectMine([]);
    await expectStatus(c.a.remove(id), 404);
  };
}

export const invalidPlantCases: readonly CheckCase[] = Object.entries(invalidPlants).flatMap(([key, plants]) => {
  const row = key.replace(/^(\S+) ([^[]+?)( \[.*)?$/, '$1 MUST respond with 400 to $2, and store nothing$3');
  return checksOf('create failures', { [row]: refuses(plants) });
});

export const invalidBodyCases: readonly CheckCase[] = checksOf('create failures', {
  'body-missing MUST respond with 400 to POST /plants without a body': async ({ a }) => {
    await expectError(a.send('POST /plants', { headers: { 'content-type': 'application/json' } }), 400);
    await expectError(a.send('POST /plants'), 400);
  },
  'body-malformed MUST respond with 400 to a body that is not JSON [create failures; RFC 8259]': ({ a }, plant) =>
    inTurn(malformedJson(plant), (body) => expectError(a.post(body, plant.id), 400)),
  'body-not-utf-8 MUST respond with 400 to a body that is not UTF-8 [create failures; RFC 8259 §8.1]': (c, plant) =>
    expectError(c.a.post(latin1Plant(plant), plant.id), 400),
  'body-media-type MUST respond with 400 to a body of another media type': (c) =>
    inTurn(otherMediaTypes, (type) => expectError(c.a.create(c.newPlant(), { 'content-type': type }), 400)),
  'body-media-type-missing MUST respond with 400 to a body without a media type': ({ a }, plant) =>
    expectError(a.create(plant, { 'content-type': undefined }), 400),
  'body-too-large MUST respond to a body of 1 MiB with 200 or 400': async ({ a }, plant) => {
    const sent = await expectStatus(a.create({ ...plant, tag: 'x'.repeat(1_048_576) }), 200, 400);
    if (sent.response.status === 400) await expectError(sent, 400);
  },
  'body-deeply-nested MUST respond to a body that nests 20,000 levels with 200 or 400': ({ a }, { id, name }) => {
    const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    return expectStatus(a.post(`{"x":${nested},"id":${id},"name":"${name}"}`, id), 200, 400);
  },
});

export const errorCases: readonly CheckCase[] = checksOf('Error', {
  'error-body MUST send an Error as the body of every error response': async (c) =>
    inTurn(await failAll(c), (sent) => expectError(sent, sent.response.status)),
  'error-integer MUST derive the integer of an Error from the status: status × 100 + n [error integer]': async (c) => {
    for (const sent of await failAll(c)) {
      const { status } = sent.response;
      const isDerived = Math.floor(Number(fieldsOf(expectJson(sent))['error']) / 100) === status;
      expect(isDerived, sent, `an error from ${status}00 to ${status}99`);
    }
  },
  'error-message MUST send a message that is not empty': async (c) => {
    for (const sent of await failAll(c)) {
      const { message } = await expectError(sent, sent.response.status);
      expect(message.trim() !== '', sent, 'a message');
    }
  },
  'error-unknown-path MUST respond to an unknown path with 404 [order of checks]': ({ a }) =>
    inTurn(['/', '/plants/', '/Plants', '/plants/1/2', '/plant', '/openapi'], (target) =>
      expectError(a.send(`GET ${target}`), 404),
    ),
  'error-no-leak MUST NOT repeat the token in an error response [RFC 6750 §5.3]': async (c) => {
    const { a, b } = c.tokens;
    const provoke = async (user: CheckUser, token: string): Promise<Exchange[]> => [
      await c.anonymous.list('', { authorization: `Bearer ${token},` }),
      ...(await failAll(c, user)),
    ];
    const sentToB = await provoke(c.b, b);
    for (const [index, exchange] of (await provoke(c.a, a)).entries()) {
      // A short token might also be a word in the message. If so, the response to user B contains this word, too.
      const isWord = containsToken(sentToB[index]?.response.text ?? '', a);
      expect(isWord || !containsToken(exchange.response.text, a), exchange, 'a body without the token');
    }
  },
});

export const errorCodeCases: readonly CheckCase[] = checksOf('error integer', {
  'code-invalid-json SHOULD respond with the error 40001 to a body that is not JSON': ({ a }, plant) => {
    const bodies = [...malformedJson(plant), latin1Plant(plant), ''];
    return inTurn(bodies, (body) => expectCode(a.post(body, plant.id), 40001));
  },
  'code-invalid-plant SHOULD respond with the error 40002 to a body that is not a NewPlant': async (c) => {
    const id = c.newId(2);
    for (const plants of Object.values(invalidPlants)) {
      for await (const sent of postAll(c, id, plants)) await expectCode(sent, 40002);
    }
  },
  'code-id-taken SHOULD respond with the error 40003 to an id that the user already has': async (c) =>
    expectCode(c.a.create(await c.createPlant()), 40003),
  'code-invalid-id SHOULD respond with the error 40004 to a path whose id is not an int64': ({ a }, plant) => {
    // '%zz' makes the request malformed (RFC 3986 §2.1). A proxy might therefore reject the request with another error.
    const ids = invalidIds(plant.id).filter((id) => id !== '%zz');
    return inTurn(ids, (id) => expectCode(a.remove(id), 40004));
  },
  'code-invalid-limit SHOULD respond with the error 40005 to an invalid limit': ({ a }) =>
    inTurn([...invalidLimits, '1&limit=1'], (limit) => expectCode(a.list(`limit=${limit}`), 40005)),
  'code-invalid-after SHOULD respond with the error 40006 to an invalid after': ({ a }) =>
    inTurn([...invalidAfters, '1&after=1'], (after) => expectCode(a.list(`after=${after}`), 40006)),
  'code-invalid-media-type SHOULD respond with the error 40007 to a body of another media type': async ({ a }) => {
    for (const type of [...otherMediaTypes, undefined]) {
      await expectCode(a.send('POST /plants', { body: '{}', headers: { 'content-type': type } }), 40007);
    }
    // This body is not JSON either, but the media type must be checked first.
    await expectCode(a.send('POST /plants', garbage), 40007);
  },
  'code-missing-credentials SHOULD respond with the error 40101 to a request without a bearer token': (c) =>
    inTurn([undefined, 'Basic YTpi'], (given) => expectCode(c.anonymous.list('', { authorization: given }), 40101)),
  'code-invalid-token SHOULD respond with the error 40102 to an unknown or malformed token': (c) =>
    inTurn([unknownToken, 'Bearer', 'Bearer a b'], (authorization) =>
      expectCode(c.anonymous.list('', { authorization }), 40102),
    ),
  'code-insufficient-scope SHOULD respond with the error 40300 to a read-only token that writes': (c, { id }) =>
    expectCode(c.readOnly().remove(id), 40300),
  'code-route-not-found SHOULD respond with the error 40401 to an unknown path': ({ a }) =>
    expectCode(a.send('GET /no-such-path'), 40401),
  'code-plant-not-found SHOULD respond with the error 40402 to the DELETE of an absent plant': ({ a }, { id }) =>
    expectCode(a.remove(id), 40402),
  'code-method-not-allowed SHOULD respond with the error 40500 to an unsupported method': ({ a }) =>
    expectCode(a.send('PATCH /plants'), 40500),
  'code-shape-before-state SHOULD respond with the error 40002 to an invalid NewPlant whose id is taken': async (c) => {
    const { id } = await c.createPlant();
    await expectCode(c.a.post(`{"id":${id}}`, id), 40002);
  },
});

export const orderCases: readonly CheckCase[] = checksOf('order of checks', {
  'order-route-first MUST check the path before the credentials': ({ anonymous }) =>
    inTurn(['GET', 'PATCH'], (method) => expectError(anonymous.send(`${method} /no-such-path`), 404)),
  'order-method-second MUST check the method before the credentials': ({ anonymous }) =>
    expectError(anonymous.send('PATCH /plants'), 405),
  'order-credentials-before-body MUST check the credentials before the body': ({ anonymous }) =>
    inTurn([garbage, { body: '{}' }], (parts) => expectError(anonymous.send('POST /plants', parts), 401)),
  'order-credentials-before-query MUST check the credentials before the query string': ({ anonymous }) =>
    inTurn(['limit', 'after'], (name) => expectError(anonymous.list(`${name}=x`), 401)),
  'order-credentials-before-id MUST check the credentials before the id in the path': ({ anonymous }) =>
    expectError(anonymous.remove('x'), 401),
  'order-scope-before-body MUST check the scope before the body': (c) =>
    expectError(c.readOnly().send('POST /plants', garbage), 403),
  'order-scope-before-id MUST check the scope before the id in the path': (c) =>
    expectError(c.readOnly().remove('x'), 403),
});
