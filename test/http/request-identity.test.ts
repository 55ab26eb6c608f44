import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientOf, traceIdOf } from '../../src/http/request-identity.ts';

const request = (header: string, value: string): { header: (name: string) => string | undefined } => ({
  header: (name) => (name === header ? value : undefined),
});

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';

describe('traceIdOf', () => {
  for (const valid of [
    `00-${traceId}-${parentId}-00`,
    `00-${traceId}-${parentId}-ff`,
    `01-${traceId}-${parentId}-01`,
    `fe-${traceId}-${parentId}-01-more`,
  ]) {
    it(`accepts ${valid}`, () => {
      assert.equal(traceIdOf(request('traceparent', valid)), traceId);
    });
  }

  for (const invalid of [
    '',
    traceId,
    `ff-${traceId}-${parentId}-01`,
    `00-${traceId}-${parentId}-01-more`,
    `00-${traceId}-${parentId}-01x`,
    `01-${traceId}-${parentId}-01more`,
    `00-${traceId.toUpperCase()}-${parentId}-01`,
    `00-${'0'.repeat(32)}-${parentId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}-${parentId}-01, 00-${traceId}-${parentId}-01`,
  ]) {
    it(`refuses '${invalid}'`, () => {
      assert.equal(traceIdOf(request('traceparent', invalid)), undefined);
    });
  }
});

describe('clientOf', () => {
  const cases: readonly [trustedProxies: number, forwardedFor: string, client: string][] = [
    [0, '192.0.2.1', '127.0.0.1'],
    [1, '192.0.2.1', '192.0.2.1'],
    [1, '192.0.2.1,192.0.2.2 ', '192.0.2.2'],
    [2, '192.0.2.1, 2001:db8::1, 192.0.2.3', '2001:db8::1'],
    [3, '192.0.2.1, 192.0.2.2', '127.0.0.1'],
    [1, '', '127.0.0.1'],
    [1, '192.0.2.1, unknown', '127.0.0.1'],
    [1, '192.0.2.1:4711', '127.0.0.1'],
  ];
  for (const [trustedProxies, forwardedFor, client] of cases) {
    it(`returns ${client} for '${forwardedFor}' with ${trustedProxies} trusted proxies`, () => {
      const { header } = request('x-forwarded-for', forwardedFor);
      assert.equal(clientOf({ header, peerAddress: '127.0.0.1' }, trustedProxies), client);
    });
  }

  it('returns the address of the connection without the header', () => {
    assert.equal(clientOf({ header: () => undefined, peerAddress: '127.0.0.1' }, 1), '127.0.0.1');
    assert.equal(clientOf({ header: () => undefined, peerAddress: undefined }, 1), undefined);
  });
});
