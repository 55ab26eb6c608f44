import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Client } from '../client.ts';
import { NotRun, Unexpected } from '../exchange.ts';
import type { Exchange } from '../exchange.ts';
import {
  createPlant,
  expect,
  expectError,
  expectNoBody,
  expectStatus,
  headerOf,
  inTurn,
  mediaType,
} from '../expect.ts';
import type { Check, Checks } from '../expect.ts';
import { failAll } from './bad-input.ts';

/** Headers that may differ between the responses to GET and HEAD, or that HEAD may omit (RFC 9110 §9.3.2). */
const volatileHeaders = /^(?:date|age|connection|keep-alive|content-length|transfer-encoding|link|etag|x-request.*)$/;

function stableHeaders({ headers }: Exchange): string {
  return [...headers]
    .filter(([name]) => !volatileHeaders.test(name))
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ');
}

/** Checks that the Allow header contains these methods, and not PATCH, which no path supports. */
function expectAllow(exchange: Exchange, ...methods: readonly string[]): void {
  const allowed = headerOf(exchange, 'allow').split(/\s*,\s*/);
  const isRight = methods.every((method) => allowed.includes(method)) && !allowed.includes('PATCH');
  expect(isRight, exchange, `Allow with ${methods.join(', ')}, and without PATCH`);
}

export const methodChecks: Checks = {
  'head-list MUST respond to HEAD /plants like to GET, without a body [RFC 9110 §9.3.2]': async (c) => {
    await createPlant(c);
    const { text } = await c.a.list('limit=1');
    const head = await expectNoBody(c.a.send('HEAD /plants?limit=1'), 200);
    const bytes = String(Buffer.byteLength(text));
    expect(['', bytes].includes(headerOf(head, 'content-length')), head, `Content-Length: ${bytes}, or none`);
  },
  'head-errors MUST respond to a wrong HEAD with the status of GET [RFC 9110 §9.3.2]': async ({ a, anonymous }) => {
    await expectNoBody(anonymous.send('HEAD /plants'), 401);
    await expectNoBody(a.send('HEAD /plants?limit=x'), 400);
    await expectNoBody(a.send('HEAD /no-such-path'), 404);
  },
  'head-headers SHOULD send the headers of GET to HEAD [RFC 9110 §9.3.2]': async (c) => {
    await createPlant(c);
    const headers = stableHeaders(await c.a.list('limit=1'));
    const head = await c.a.send('HEAD /plants?limit=1');
    expect(stableHeaders(head) === headers, head, `the headers ${headers}`);
  },
  'options MUST respond to OPTIONS with 204 and Allow, also without credentials': async (c, { id }) => {
    for (const user of [c.a, c.anonymous]) {
      expectAllow(await expectStatus(user.send('OPTIONS /plants'), 204), 'GET', 'HEAD', 'POST', 'OPTIONS');
      expectAllow(await expectStatus(user.send(`OPTIONS /plants/${id}`), 204), 'DELETE', 'OPTIONS');
    }
  },
  'method-405 MUST respond with 405 to a method that the path does not support': ({ a }, { id }) => {
    const lines = ['PATCH /plants', `PUT /plants/${id}`, `PATCH /plants/${id}`, `GET /plants/${id}`];
    return inTurn(lines, (line) => expectError(a.send(line), 405));
  },
  'method-allow MUST name the supported methods in the Allow header of a 405 [RFC 9110 §15.5.6]': async (c, { id }) => {
    expectAllow(await c.a.send('PATCH /plants'), 'GET', 'POST');
    expectAllow(await c.a.send(`GET /plants/${id}`), 'DELETE');
  },
};

function everyResponse(expected: string, isRight: (sent: Exchange) => boolean): Check {
  return async (c, plant) => {
    const sent = [await c.a.create(plant), await c.a.list(), await c.a.remove(plant.id), ...(await failAll(c))];
    for (const exchange of sent) expect(isRight(exchange), exchange, expected);
  };
}

/** Checks the status of a GET /plants in which a header field is repeated, which `fetch` cannot send. */
async function expectRefused(c: Client, name: string, value: string, ...statuses: number[]): Promise<void> {
  const url = new URL(`${c.baseUrl}/plants`);
  if (!c.isRemote || url.protocol !== 'http:') throw new NotRun('This test needs a server on the network without TLS.');
  const headers = ['Host', url.host, 'Authorization', `Bearer ${c.tokens.a}`, name, value];
  const sent = request(url, { headers, agent: false, signal: AbortSignal.timeout(10_000) }).end();
  const [{ statusCode = 0 }] = (await once(sent, 'response')) as [IncomingMessage];
  sent.destroy();
  const expected = `status ${statuses.join(' or ')} to a GET /plants with two ${name} fields`;
  if (!statuses.includes(statusCode)) throw new Unexpected(expected, undefined, `status ${statusCode}`);
}

export const headerChecks: Checks = {
  'header-content-type MUST declare every JSON body as application/json': everyResponse(
    'Content-Type: application/json',
    (sent) => sent.text === '' || mediaType(sent) === 'application/json',
  ),
  'header-204-no-length MUST send no Content-Length with a 204 [RFC 9110 §8.6]': async (c) => {
    const deleted = await c.a.remove((await createPlant(c)).id);
    expect(!deleted.headers.has('content-length'), deleted, 'no Content-Length');
  },
  'header-repeated-host MUST respond with 400 to a repeated Host [RFC 9112 §3.2]': (c) =>
    expectRefused(c, 'Host', 'plants.example', 400),
  'header-repeated-authorization MUST NOT accept a repeated Authorization': (c) =>
    expectRefused(c, 'Authorization', `Bearer ${c.tokens.b}`, 401, 400),
  'header-no-store SHOULD send Cache-Control: no-store, because plants are private [RFC 9111 §5.2.2.5]': everyResponse(
    'Cache-Control: no-store',
    (sent) => /\bno-store\b/i.test(headerOf(sent, 'cache-control')),
  ),
  'header-nosniff SHOULD send X-Content-Type-Options: nosniff [WHATWG Fetch §3.6]': everyResponse(
    'X-Content-Type-Options: nosniff',
    (sent) => /^nosniff$/i.test(headerOf(sent, 'x-content-type-options')),
  ),
  'header-no-cookies SHOULD NOT set cookies [RFC 6265 §8.2]': everyResponse(
    'no Set-Cookie',
    ({ headers }) => !headers.has('set-cookie'),
  ),
};
