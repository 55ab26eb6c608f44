import { must, plantStore, should } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import type { CheckUser } from '../check-user.ts';
import { expect, expectError, expectStatus } from '../expect.ts';
import type { Exchange } from '../exchange.ts';

const source = plantStore('HEAD, OPTIONS');
/**
 * Headers that are ignored when the responses to GET and HEAD are compared. Their values may differ, or the response to
 * HEAD may omit them (RFC 9110 §9.3.2).
 */
const volatileHeaders = new Set([
  'date',
  'age',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'link',
  'etag',
]);

function allowedMethods({ response }: Exchange): string[] {
  return (response.headers.get('allow') ?? '').split(',').map((method) => method.trim());
}

async function expectOptions(user: CheckUser, target: string, methods: readonly string[]): Promise<void> {
  const options = await user.send('OPTIONS', target);
  expectStatus(options, 204);
  const allowed = allowedMethods(options);
  expect(
    methods.every((method) => allowed.includes(method)),
    options,
    `Allow: ${methods.join(', ')}`,
  );
}

function stableHeaders({ response }: Exchange): string {
  const stable = [...response.headers].filter(([name]) => !volatileHeaders.has(name) && !name.startsWith('x-request'));
  return stable.map(([name, value]) => `${name}: ${value}`).join(', ');
}

/** Checks of HEAD, of OPTIONS, and of methods that a path does not support. */
export const methodCases: readonly CheckCase[] = [
  must(
    'head-list',
    'respond to HEAD /plants like to GET, without a body',
    `${source}; RFC 9110 §9.3.2`,
    async (client) => {
      await client.a.mustCreate(client.newPlant());
      const head = await client.a.send('HEAD', '/plants?limit=1');
      expectStatus(head, 200);
      expect(head.response.text === '', head, 'no body');
    },
  ),
  must('head-errors', 'respond to a wrong HEAD with the status of GET', 'RFC 9110 §9.3.2', async ({ a, anonymous }) => {
    expectStatus(await anonymous.send('HEAD', '/plants'), 401);
    expectStatus(await a.send('HEAD', '/plants?limit=x'), 400);
    expectStatus(await a.send('HEAD', '/no-such-path'), 404);
  }),
  must(
    'head-content-length',
    'send no Content-Length to HEAD that differs from that of GET',
    'RFC 9110 §8.6',
    async (client) => {
      await client.a.mustCreate(client.newPlant());
      const get = await client.a.list('limit=1');
      const head = await client.a.send('HEAD', '/plants?limit=1');
      const bytes = String(new TextEncoder().encode(get.response.text).length);
      const length = head.response.headers.get('content-length');
      expect(length === null || length === bytes, head, `Content-Length: ${bytes}, or none`);
    },
  ),
  should('head-headers', 'send the headers of GET to HEAD', 'RFC 9110 §9.3.2', async (client) => {
    await client.a.mustCreate(client.newPlant());
    const headers = stableHeaders(await client.a.list('limit=1'));
    const head = await client.a.send('HEAD', '/plants?limit=1');
    expect(stableHeaders(head) === headers, head, `the headers ${client.redact(headers)}`);
  }),
  must('options-collection', 'respond to OPTIONS /plants with 204 and Allow', source, async ({ a }) => {
    await expectOptions(a, '/plants', ['GET', 'HEAD', 'POST', 'OPTIONS']);
  }),
  must('options-plant', 'respond to OPTIONS /plants/{id} with 204 and Allow', source, async (client) => {
    await expectOptions(client.a, `/plants/${client.newId()}`, ['DELETE', 'OPTIONS']);
  }),
  must(
    'options-anonymous',
    'respond to OPTIONS without credentials',
    plantStore('order of checks'),
    async ({ anonymous }) => {
      await expectOptions(anonymous, '/plants', ['GET', 'HEAD', 'POST', 'OPTIONS']);
    },
  ),
  must(
    'method-405',
    'respond with 405 to a method that the path does not support',
    plantStore('order of checks'),
    async (client) => {
      const plant = `/plants/${client.newId()}`;
      for (const [method, target] of [
        ['PATCH', '/plants'],
        ['PUT', plant],
        ['PATCH', plant],
        ['GET', plant],
      ] as const) {
        expectError(await client.a.send(method, target), 405);
      }
    },
  ),
  must(
    'method-allow',
    'name the supported methods in the Allow header of a 405',
    'RFC 9110 §15.5.6',
    async (client) => {
      const collection = await client.a.send('PATCH', '/plants');
      const methods = allowedMethods(collection);
      expect(methods.includes('GET') && methods.includes('POST'), collection, 'Allow with GET and POST');
      expect(!methods.includes('PATCH'), collection, 'Allow without PATCH');
      const plant = await client.a.send('GET', `/plants/${client.newId()}`);
      expect(allowedMethods(plant).includes('DELETE'), plant, 'Allow with DELETE');
    },
  ),
];
