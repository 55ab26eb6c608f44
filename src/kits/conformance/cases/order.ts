import { must, plantStore } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import { expectError } from '../expect.ts';

const source = plantStore('order of checks');
const garbage = { body: 'x', headers: { 'content-type': 'text/plain' } };

/** Checks that the server reports the right error if a request contains two errors. */
export const orderCases: readonly CheckCase[] = [
  must('order-route-first', 'check the path before the credentials', source, async ({ anonymous }) => {
    expectError(await anonymous.send('GET', '/no-such-path'), 404);
    expectError(await anonymous.send('PATCH', '/no-such-path'), 404);
  }),
  must('order-method-second', 'check the method before the credentials', source, async ({ anonymous }) => {
    expectError(await anonymous.send('PATCH', '/plants'), 405);
  }),
  must('order-credentials-before-body', 'check the credentials before the body', source, async ({ anonymous }) => {
    expectError(await anonymous.send('POST', '/plants', garbage), 401);
    expectError(await anonymous.send('POST', '/plants', { body: '{}' }), 401);
  }),
  must(
    'order-credentials-before-query',
    'check the credentials before the query string',
    source,
    async ({ anonymous }) => {
      expectError(await anonymous.list('limit=x'), 401);
      expectError(await anonymous.list('after=x'), 401);
    },
  ),
  must(
    'order-credentials-before-id',
    'check the credentials before the id in the path',
    source,
    async ({ anonymous }) => {
      expectError(await anonymous.remove('x'), 401);
    },
  ),
  must('order-scope-before-body', 'check the scope before the body', source, async (client) => {
    expectError(await client.readOnly().send('POST', '/plants', garbage), 403);
  }),
  must('order-scope-before-id', 'check the scope before the id in the path', source, async (client) => {
    expectError(await client.readOnly().remove('x'), 403);
  }),
];
