import { must, plantStore } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import type { CheckClient } from '../check-client.ts';
import type { CheckUser } from '../check-user.ts';
import type { Exchange } from '../exchange.ts';
import { expect, expectError, expectJson, fieldsOf } from '../expect.ts';
import { containsToken } from '../token-pattern.ts';

const source = plantStore('Error');

/** Sends one request for each kind of error that a token with full access can cause. `a` is the user of the token. */
async function failAll({ a, anonymous }: Pick<CheckClient, 'a' | 'anonymous'>): Promise<Exchange[]> {
  return [
    await a.send('POST', '/plants', { body: '{' }),
    await a.send('POST', '/plants', { body: '{}' }),
    await a.list('limit=x'),
    await a.remove('x'),
    await anonymous.list(),
    await a.send('GET', '/no-such-path'),
    await a.send('PATCH', '/plants'),
  ];
}

/** Checks of error responses. */
export const errorCases: readonly CheckCase[] = [
  must('error-body', 'send an Error as the body of every error response', source, async (client) => {
    for (const exchange of await failAll(client)) expectError(exchange, exchange.response.status);
  }),
  must(
    'error-integer',
    'derive the integer of an Error from the status: status × 100 + n',
    plantStore('error integer'),
    async (client) => {
      for (const exchange of await failAll(client)) {
        const { status } = exchange.response;
        const isDerived = Math.floor(Number(fieldsOf(expectJson(exchange))['error']) / 100) === status;
        expect(isDerived, exchange, `an error from ${status}00 to ${status}99`);
      }
    },
  ),
  must('error-message', 'send a message that is not empty', source, async (client) => {
    for (const exchange of await failAll(client)) {
      const { message } = expectError(exchange, exchange.response.status);
      expect(message.trim() !== '', exchange, 'a message');
    }
  }),
  must('error-unknown-path', 'respond to an unknown path with 404', plantStore('order of checks'), async ({ a }) => {
    for (const target of ['/', '/plants/', '/Plants', '/plants/1/2', '/plant', '/openapi']) {
      expectError(await a.send('GET', target), 404);
    }
  }),
  must('error-no-leak', 'NOT repeat the token in an error response', 'RFC 6750 §5.3', async ({ a, b, anonymous }) => {
    const provoke = async (user: CheckUser): Promise<Exchange[]> => [
      await anonymous.send('GET', '/plants', { headers: { authorization: `Bearer ${user.token ?? ''},` } }),
      ...(await failAll({ a: user, anonymous })),
    ];
    const token = a.token ?? '';
    const sentToB = await provoke(b);
    for (const [index, exchange] of (await provoke(a)).entries()) {
      // A short token may be a word of the message. If so, the response to user B contains this word, too.
      const isWord = containsToken(sentToB[index]?.response.text ?? '', token);
      expect(isWord || !containsToken(exchange.response.text, token), exchange, 'a body without the token');
    }
  }),
];
