import { checksOf, each } from '../check-case.ts';
import type { Check, CheckCase } from '../check-case.ts';
import type { CheckClient } from '../check-client.ts';
import { newPlantJson } from '../check-user.ts';
import type { Exchange } from '../exchange.ts';
import { expect, expectError, expectJson, expectStatus, fieldsOf } from '../expect.ts';
import { containsToken } from '../redact.ts';
import { latin1Plant, malformedJson, otherMediaTypes, postInvalid } from './bad-input.ts';
import type { Defect } from './bad-input.ts';

/** Returns a check that the server refuses plants with this defect and stores nothing. */
function refuses(defect: Defect): Check {
  return async (c) => {
    const id = c.newId(2);
    for await (const sent of postInvalid(c, id, defect)) await expectError(sent, 400);
    await c.expectMine([], 'no plant of a refused request');
    await expectStatus(c.a.remove(id), 404);
  };
}

/** Checks of POST /plants with a body that is JSON but not a valid NewPlant. */
export const invalidPlantCases: readonly CheckCase[] = checksOf('create failures', {
  'invalid-not-an-object MUST respond with 400 to a body that is not a JSON object, and store nothing':
    refuses('notAnObject'),
  'invalid-missing-id MUST respond with 400 to a NewPlant without an id, and store nothing [NewPlant]':
    refuses('missingId'),
  'invalid-missing-name MUST respond with 400 to a NewPlant without a name, and store nothing [NewPlant]':
    refuses('missingName'),
  'invalid-id-type MUST respond with 400 to a NewPlant whose id is not a number, and store nothing [int64]':
    refuses('idType'),
  'invalid-id-fraction MUST respond with 400 to a NewPlant whose id is not integral, and store nothing [int64]':
    refuses('idFraction'),
  'invalid-name-type MUST respond with 400 to a NewPlant whose name is not a string, and store nothing':
    refuses('nameType'),
  'invalid-tag-type MUST respond with 400 to a NewPlant whose tag is not a string, and store nothing':
    refuses('tagType'),
  'invalid-text MUST respond with 400 to U+0000 and unpaired surrogates in strings, and store nothing [name, tag]':
    refuses('text'),
});

/**
 * Checks of POST /plants with a body that is missing, is not JSON, has another media type, or is very large or deeply
 * nested.
 */
export const invalidBodyCases: readonly CheckCase[] = checksOf('create failures', {
  'body-missing MUST respond with 400 to POST /plants without a body': async ({ a }) => {
    await expectError(a.send('POST /plants', { headers: { 'content-type': 'application/json' } }), 400);
    await expectError(a.send('POST /plants'), 400);
  },
  'body-malformed MUST respond with 400 to a body that is not JSON [create failures; RFC 8259]': async (c) => {
    const plant = c.newPlant();
    for (const body of malformedJson(newPlantJson(plant))) await expectError(c.a.post(body, plant.id), 400);
  },
  'body-not-utf-8 MUST respond with 400 to a body that is not UTF-8 [create failures; RFC 8259 §8.1]': async (c) => {
    const id = c.newId();
    await expectError(c.a.post(latin1Plant(id), id), 400);
  },
  'body-media-type MUST respond with 400 to a body of another media type': each(otherMediaTypes, (c, type) =>
    expectError(c.a.create(c.newPlant(), { 'content-type': type }), 400),
  ),
  'body-media-type-missing MUST respond with 400 to a body without a media type': (c) =>
    expectError(c.a.create(c.newPlant(), { 'content-type': undefined }), 400),
  'body-too-large MUST respond to a body of 1 MiB with 200 or 400': async (c) => {
    const sent = await expectStatus(c.a.create(c.newPlant('x'.repeat(1_048_576))), 200, 400);
    if (sent.response.status === 400) await expectError(sent, 400);
  },
  'body-deeply-nested MUST respond to a body that nests 20,000 levels with 200 or 400': async (c) => {
    const plant = c.newPlant();
    const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    await expectStatus(c.a.post(newPlantJson(plant).replace('{', `{"x":${nested},`), plant.id), 200, 400);
  },
});

/** Sends one request for each kind of error that a token with full access can cause. `user` is the user of the token. */
async function failAll({ anonymous, a }: CheckClient, user = a): Promise<Exchange[]> {
  return [
    await user.send('POST /plants', { body: '{' }),
    await user.send('POST /plants', { body: '{}' }),
    await user.list('limit=x'),
    await user.remove('x'),
    await anonymous.list(),
    await user.send('GET /no-such-path'),
    await user.send('PATCH /plants'),
  ];
}

/** Checks of error responses. */
export const errorCases: readonly CheckCase[] = checksOf('Error', {
  'error-body MUST send an Error as the body of every error response': async (c) => {
    for (const sent of await failAll(c)) await expectError(sent, sent.response.status);
  },
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
  'error-unknown-path MUST respond to an unknown path with 404 [order of checks]': async ({ a }) => {
    for (const target of ['/', '/plants/', '/Plants', '/plants/1/2', '/plant', '/openapi']) {
      await expectError(a.send(`GET ${target}`), 404);
    }
  },
  'error-no-leak MUST NOT repeat the token in an error response [RFC 6750 §5.3]': async (c) => {
    const { a, b } = c.tokens;
    const provoke = async (user: CheckClient['a'], token: string): Promise<Exchange[]> => [
      await c.anonymous.send('GET /plants', { headers: { authorization: `Bearer ${token},` } }),
      ...(await failAll(c, user)),
    ];
    const sentToB = await provoke(c.b, b);
    for (const [index, exchange] of (await provoke(c.a, a)).entries()) {
      // A short token may be a word of the message. If so, the response to user B contains this word, too.
      const isWord = containsToken(sentToB[index]?.response.text ?? '', a);
      expect(isWord || !containsToken(exchange.response.text, a), exchange, 'a body without the token');
    }
  },
});

const garbage = { body: 'x', headers: { 'content-type': 'text/plain' } };

/** Checks that the server reports the right error if a request contains two errors. */
export const orderCases: readonly CheckCase[] = checksOf('order of checks', {
  'order-route-first MUST check the path before the credentials': async ({ anonymous }) => {
    await expectError(anonymous.send('GET /no-such-path'), 404);
    await expectError(anonymous.send('PATCH /no-such-path'), 404);
  },
  'order-method-second MUST check the method before the credentials': ({ anonymous }) =>
    expectError(anonymous.send('PATCH /plants'), 405),
  'order-credentials-before-body MUST check the credentials before the body': async ({ anonymous }) => {
    await expectError(anonymous.send('POST /plants', garbage), 401);
    await expectError(anonymous.send('POST /plants', { body: '{}' }), 401);
  },
  'order-credentials-before-query MUST check the credentials before the query string': async ({ anonymous }) => {
    await expectError(anonymous.list('limit=x'), 401);
    await expectError(anonymous.list('after=x'), 401);
  },
  'order-credentials-before-id MUST check the credentials before the id in the path': ({ anonymous }) =>
    expectError(anonymous.remove('x'), 401),
  'order-scope-before-body MUST check the scope before the body': (c) =>
    expectError(c.readOnly().send('POST /plants', garbage), 403),
  'order-scope-before-id MUST check the scope before the id in the path': (c) =>
    expectError(c.readOnly().remove('x'), 403),
});
