import type { Exchange } from '../exchange.ts';
import { expect, expectError, expectNoBody, expectStatus, headerOf, mustCreate } from '../expect.ts';
import type { Checks } from '../expect.ts';

/** Checks that the Allow header contains these methods, and not PATCH, which no path supports. */
function expectAllow(exchange: Exchange, ...methods: readonly string[]): void {
  const allowed = headerOf(exchange, 'allow').split(/\s*,\s*/);
  const isRight = methods.every((method) => allowed.includes(method)) && !allowed.includes('PATCH');
  expect(isRight, exchange, `Allow with ${methods.join(', ')}, and without PATCH`);
}

export const methodChecks: Checks = {
  'head-list MUST respond to HEAD /plants like to GET, without a body [RFC 9110 §9.3.2]': async (c) => {
    await mustCreate(c.a, c.newPlant(), c.newPlant());
    // A proxy may compress the body of a GET.
    const headers = { 'accept-encoding': 'identity' };
    const got = await c.a.list('limit=1', headers);
    const head = await expectNoBody(c.a.send('HEAD /plants?limit=1', { headers }), 200);
    const bytes = String(Buffer.byteLength(got.text));
    expect(['', bytes].includes(headerOf(head, 'content-length')), head, `Content-Length: ${bytes}, or none`);
    for (const name of ['content-type', 'link']) {
      const value = headerOf(got, name);
      expect(headerOf(head, name) === value, head, `the header of the GET, ${name}: ${value}`);
    }
  },
  'options MUST respond to OPTIONS with 204 and Allow, also without credentials': async (c, { id }) => {
    for (const user of [c.a, c.anonymous]) {
      expectAllow(await expectStatus(user.send('OPTIONS /plants'), 204), 'GET', 'HEAD', 'POST', 'OPTIONS');
      expectAllow(await expectStatus(user.send(`OPTIONS /plants/${id}`), 204), 'DELETE', 'OPTIONS');
    }
  },
  'method-405 MUST respond with 405 and Allow to a method that the path does not support': async ({ a }, { id }) => {
    const allowed = {
      'PATCH /plants': ['GET', 'POST'],
      [`PUT /plants/${id}`]: ['DELETE'],
      [`GET /plants/${id}`]: ['DELETE'],
    };
    for (const [line, methods] of Object.entries(allowed)) {
      const refused = await a.send(line);
      await expectError(refused, 405);
      expectAllow(refused, ...methods);
    }
  },
};
