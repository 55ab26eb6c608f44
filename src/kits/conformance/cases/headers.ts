import { must, plantStore, should } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import type { CheckClient } from '../check-client.ts';
import type { Exchange } from '../exchange.ts';
import { expect, mediaType } from '../expect.ts';

/** Sends one request for each kind of response. */
async function callAll(client: CheckClient): Promise<Exchange[]> {
  const plant = client.newPlant();
  return [
    await client.a.create(plant),
    await client.a.create(plant),
    await client.a.list(),
    await client.a.list('limit=x'),
    await client.a.remove(plant.id),
    await client.a.remove(plant.id),
    await client.anonymous.list(),
    await client.a.send('GET', '/no-such-path'),
    await client.a.send('PATCH', '/plants'),
  ];
}

/** Checks of response headers. */
export const headerCases: readonly CheckCase[] = [
  must(
    'header-content-type',
    'declare every JSON body as application/json',
    plantStore('media type'),
    async (client) => {
      for (const exchange of await callAll(client)) {
        const isDeclared = exchange.response.text === '' || mediaType(exchange) === 'application/json';
        expect(isDeclared, exchange, 'Content-Type: application/json');
      }
    },
  ),
  must('header-204-no-length', 'send no Content-Length with a 204', 'RFC 9110 §8.6', async (client) => {
    const plant = client.newPlant();
    await client.a.mustCreate(plant);
    const deleted = await client.a.remove(plant.id);
    expect(!deleted.response.headers.has('content-length'), deleted, 'no Content-Length');
  }),
  should(
    'header-no-store',
    'send Cache-Control: no-store, because plants are private',
    'RFC 9111 §5.2.2.5',
    async (client) => {
      for (const exchange of await callAll(client)) {
        const directives = (exchange.response.headers.get('cache-control') ?? '').toLowerCase();
        expect(/(?:^|,)\s*no-store\s*(?:,|$)/.test(directives), exchange, 'Cache-Control: no-store');
      }
    },
  ),
  should('header-nosniff', 'send X-Content-Type-Options: nosniff', 'WHATWG Fetch §3.6', async (client) => {
    for (const exchange of await callAll(client)) {
      const value = exchange.response.headers.get('x-content-type-options');
      expect(value?.toLowerCase() === 'nosniff', exchange, 'X-Content-Type-Options: nosniff');
    }
  }),
  should('header-no-cookies', 'NOT set cookies', 'RFC 6265 §8.2', async (client) => {
    for (const exchange of await callAll(client)) {
      expect(!exchange.response.headers.has('set-cookie'), exchange, 'no Set-Cookie');
    }
  }),
];
