import type { Client, Exchange, NewPlant, User } from '../client.ts';
import { expect, expectError, expectHeader, expectJson, expectStatus } from '../expect.ts';
import { headerOf, inTurn, mustCreate } from '../expect.ts';
import type { Checks } from '../expect.ts';

/** Maps the integer of each error to a request that causes the error. */
const failures: Readonly<Record<number, (a: User, plant: NewPlant, c: Client) => Promise<Exchange>>> = {
  40001: (a) => a.post('{'),
  40002: (a) => a.post('{}'),
  40003: async (a, plant) => (await a.create(plant), a.create(plant)),
  40004: (a) => a.remove('x'),
  40005: (a) => a.list('limit=x'),
  40006: (a) => a.list('after=x'),
  40007: (a, plant) => a.create(plant, { 'content-type': 'text/plain' }),
  40101: (_, __, { anonymous }) => anonymous.list(),
  40102: (_, __, { stranger }) => stranger.list(),
  40401: (a) => a.send('GET /no-such-path'),
  40402: (a, { id }) => a.remove(id),
  40500: (a) => a.send('PATCH /plants'),
};

/** Checks that the Allow header contains these methods, and not PATCH, which no path supports. */
function expectAllow(exchange: Exchange, ...methods: readonly string[]): void {
  const allowed = headerOf(exchange, 'allow').split(/\s*,\s*/);
  const isRight = methods.every((method) => allowed.includes(method)) && !allowed.includes('PATCH');
  expect(isRight, exchange, `Allow with ${methods.join(', ')}, and without PATCH`);
}

const contents = {
  version: /"openapi":"3\.1\.0"/,
  title: /"title":"OpenAPI Plant Store"/,
  'the paths': /"\/plants":.*"\/plants\/\{id\}":/s,
  'bearer authentication': /"type":"http","scheme":"bearer"|"scheme":"bearer","type":"http"/,
  'int64 ids': /"id":\{[^}]*"format":"int64"/,
};

export const httpChecks: Checks = {
  'error-integer MUST send the documented integer in the body of every error response': async (c) => {
    for (const [integer, fail] of Object.entries(failures)) {
      const sent = await fail(c.a, c.newPlant(), c);
      const found = await expectError(sent, Math.floor(Number(integer) / 100));
      expect(found === Number(integer), sent, `the error ${integer}`);
    }
  },
  'error-unknown-path MUST respond with 404 to an unknown path': ({ a }) =>
    inTurn(['/', '/plants/', '/Plants', '/plants/1/2', '/plant', '/openapi'], (target) =>
      expectError(a.send(`GET ${target}`), 404),
    ),
  'cors-no-credentials MUST NOT let web pages of any origin send credentials [Fetch §3.3.3]': async ({ a }) => {
    const headers = { origin: 'https://attacker.example', 'access-control-request-method': 'GET' };
    for (const line of ['GET /plants?limit=0', 'OPTIONS /plants']) {
      const sent = await a.send(line, undefined, headers);
      expectHeader(sent, 'access-control-allow-credentials', /^(?!true$)/, 'no Access-Control-Allow-Credentials');
    }
  },
  'request-id-safe MUST NOT reflect an X-Request-Id with quotation marks or of more than 128 characters': ({ a }) =>
    inTurn(['a"b', 'a\\b', 'x'.repeat(200)], async (id) => {
      const sent = await a.list('limit=0', { 'x-request-id': id });
      expect(headerOf(sent, 'x-request-id') !== id, sent, 'another X-Request-Id, or none');
    }),
  'head-list MUST respond to HEAD /plants as to GET, but without a body [RFC 9110 §9.3.2]': async (c) => {
    await mustCreate(c.a, c.newPlant(), c.newPlant());
    // A proxy may compress the body of a GET.
    const headers = { 'accept-encoding': 'identity' };
    const got = await c.a.list('limit=1', headers);
    const head = await expectStatus(c.a.send('HEAD /plants?limit=1', undefined, headers), 200);
    expect(head.text === '', head, 'no body');
    const bytes = String(Buffer.byteLength(got.text));
    expect(['', bytes].includes(headerOf(head, 'content-length')), head, `Content-Length: ${bytes}, or none`);
    for (const name of ['content-type', 'link']) {
      const value = headerOf(got, name);
      expect(headerOf(head, name) === value, head, `the header of the GET, ${name}: ${value}`);
    }
  },
  'options MUST respond to OPTIONS with 204 and Allow, even without credentials': async (c, { id }) => {
    for (const user of [c.a, c.anonymous]) {
      expectAllow(await expectStatus(user.send('OPTIONS /plants'), 204), 'GET', 'HEAD', 'POST', 'OPTIONS');
      expectAllow(await expectStatus(user.send(`OPTIONS /plants/${id}`), 204), 'DELETE', 'OPTIONS');
    }
  },
  'method-405 MUST respond with 405 and Allow to a method that the path does not support': async ({ a }, { id }) => {
    const refuses = async (line: string, ...allowed: readonly string[]): Promise<void> => {
      const refused = await a.send(line);
      await expectError(refused, 405);
      expectAllow(refused, ...allowed);
    };
    await refuses('PATCH /plants', 'GET', 'POST');
    await refuses(`PUT /plants/${id}`, 'DELETE');
    await refuses(`GET /plants/${id}`, 'DELETE');
  },
  'openapi MUST describe the operations, the authentication and int64 ids to any client': async (c) => {
    const exchange = await expectStatus(c.anonymous.send('GET /openapi.json'), 200);
    const document = JSON.stringify(expectJson(exchange));
    for (const [what, pattern] of Object.entries(contents)) expect(pattern.test(document), exchange, what);
  },
};
