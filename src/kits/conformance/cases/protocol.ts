import type { CheckClient } from '../check-client.ts';
import type { CheckUser } from '../check-user.ts';
import type { Exchange } from '../exchange.ts';
import { expect, expectError, expectNoBody, expectStatus, headerOf, mediaType } from '../expect.ts';
import { checksOf, inTurn } from '../run-cases.ts';
import type { CheckCase } from '../run-cases.ts';
import { failAll } from './bad-input.ts';

/**
 * Headers that are ignored when the responses to GET and HEAD are compared. Their values may differ, or the response to
 * HEAD may omit them (RFC 9110 §9.3.2).
 */
const volatileHeaders = /^(?:date|age|connection|keep-alive|content-length|transfer-encoding|link|etag|x-request.*)$/;

function stableHeaders({ response }: Exchange): string {
  const stable = [...response.headers].filter(([name]) => !volatileHeaders.test(name));
  return stable.map(([name, value]) => `${name}: ${value}`).join(', ');
}

function allowedMethods(exchange: Exchange): string[] {
  return headerOf(exchange, 'allow')
    .split(',')
    .map((method) => method.trim());
}

async function expectOptions(user: CheckUser, target: string, methods: readonly string[]): Promise<void> {
  const options = await expectStatus(user.send(`OPTIONS ${target}`), 204);
  const allowed = allowedMethods(options);
  const isRight = methods.every((method) => allowed.includes(method));
  expect(isRight, options, `Allow: ${methods.join(', ')}`);
}

const collectionMethods = ['GET', 'HEAD', 'POST', 'OPTIONS'];

export const methodCases: readonly CheckCase[] = checksOf('HEAD, OPTIONS', {
  'head-list MUST respond to HEAD /plants like to GET, without a body [HEAD, OPTIONS; RFC 9110 §9.3.2]': async (c) => {
    await c.createPlant();
    await expectNoBody(c.a.send('HEAD /plants?limit=1'), 200);
  },
  'head-errors MUST respond to a wrong HEAD with the status of GET [RFC 9110 §9.3.2]': async ({ a, anonymous }) => {
    await expectStatus(anonymous.send('HEAD /plants'), 401);
    await expectStatus(a.send('HEAD /plants?limit=x'), 400);
    await expectStatus(a.send('HEAD /no-such-path'), 404);
  },
  'head-content-length MUST send no Content-Length to HEAD that differs from that of GET [RFC 9110 §8.6]': async (
    c,
  ) => {
    await c.createPlant();
    const { text } = (await c.a.list('limit=1')).response;
    const head = await c.a.send('HEAD /plants?limit=1');
    const bytes = String(Buffer.byteLength(text));
    expect(['', bytes].includes(headerOf(head, 'content-length')), head, `Content-Length: ${bytes}, or none`);
  },
  'head-headers SHOULD send the headers of GET to HEAD [RFC 9110 §9.3.2]': async (c) => {
    await c.createPlant();
    const headers = stableHeaders(await c.a.list('limit=1'));
    const head = await c.a.send('HEAD /plants?limit=1');
    expect(stableHeaders(head) === headers, head, `the headers ${c.redact(headers)}`);
  },
  'options-collection MUST respond to OPTIONS /plants with 204 and Allow': ({ a }) =>
    expectOptions(a, '/plants', collectionMethods),
  'options-plant MUST respond to OPTIONS /plants/{id} with 204 and Allow': ({ a }, { id }) =>
    expectOptions(a, `/plants/${id}`, ['DELETE', 'OPTIONS']),
  'options-anonymous MUST respond to OPTIONS without credentials [order of checks]': ({ anonymous }) =>
    expectOptions(anonymous, '/plants', collectionMethods),
  'method-405 MUST respond with 405 to a method that the path does not support [order of checks]': ({ a }, { id }) => {
    const lines = ['PATCH /plants', `PUT /plants/${id}`, `PATCH /plants/${id}`, `GET /plants/${id}`];
    return inTurn(lines, (line) => expectError(a.send(line), 405));
  },
  'method-allow MUST name the supported methods in the Allow header of a 405 [RFC 9110 §15.5.6]': async (c, { id }) => {
    const collection = await c.a.send('PATCH /plants');
    const methods = allowedMethods(collection);
    expect(methods.includes('GET') && methods.includes('POST'), collection, 'Allow with GET and POST');
    expect(!methods.includes('PATCH'), collection, 'Allow without PATCH');
    const plant = await c.a.send(`GET /plants/${id}`);
    expect(allowedMethods(plant).includes('DELETE'), plant, 'Allow with DELETE');
  },
});

/** Sends one request for each kind of response, and checks every response. */
async function expectAll(client: CheckClient, expected: string, isRight: (sent: Exchange) => boolean): Promise<void> {
  const plant = client.newPlant();
  const exchanges = [
    await client.a.create(plant),
    await client.a.create(plant),
    await client.a.list(),
    await client.a.remove(plant.id),
    await client.a.remove(plant.id),
    ...(await failAll(client)),
  ];
  for (const exchange of exchanges) expect(isRight(exchange), exchange, expected);
}

export const headerCases: readonly CheckCase[] = checksOf('media type', {
  'header-content-type MUST declare every JSON body as application/json': (c) => {
    const isRight = (sent: Exchange): boolean => sent.response.text === '' || mediaType(sent) === 'application/json';
    return expectAll(c, 'Content-Type: application/json', isRight);
  },
  'header-204-no-length MUST send no Content-Length with a 204 [RFC 9110 §8.6]': async (c) => {
    const deleted = await c.a.remove((await c.createPlant()).id);
    expect(!deleted.response.headers.has('content-length'), deleted, 'no Content-Length');
  },
  'header-no-store SHOULD send Cache-Control: no-store, because plants are private [RFC 9111 §5.2.2.5]': (c) =>
    expectAll(c, 'Cache-Control: no-store', (sent) =>
      /(?:^|,)\s*no-store\s*(?:,|$)/i.test(headerOf(sent, 'cache-control')),
    ),
  'header-nosniff SHOULD send X-Content-Type-Options: nosniff [WHATWG Fetch §3.6]': (c) =>
    expectAll(c, 'X-Content-Type-Options: nosniff', (sent) =>
      /^nosniff$/i.test(headerOf(sent, 'x-content-type-options')),
    ),
  'header-no-cookies SHOULD NOT set cookies [RFC 6265 §8.2]': (c) =>
    expectAll(c, 'no Set-Cookie', ({ response }) => !response.headers.has('set-cookie')),
});
