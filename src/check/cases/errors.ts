import { must, plantStore } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import type { CheckClient } from '../check-client.ts';
import type { Exchange } from '../exchange.ts';
import { expect, expectError, expectJson, fieldsOf } from '../expect.ts';

const source = plantStore('Error');

/** Sends one request for each kind of error that a token with full access can cause. */
async function failAll({ a, anonymous }: CheckClient): Promise<Exchange[]> {
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
  must('error-no-leak', 'NOT repeat the token in an error response', 'RFC 6750 §5.3', async (client) => {
    const token = client.a.token ?? '';
    const authorization = `Bearer ${token},`;
    for (const exchange of [
      await client.anonymous.send('GET', '/plants', { headers: { authorization } }),
      ...(await failAll(client)),
    ]) {
      expect(!exchange.response.text.includes(token), exchange, 'a body without the token');
    }
  }),
];
