import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientOf, requestIdOf, traceparentOf } from '../../src/http/request-identity.ts';

const request = (header: string, value: string): { header: (name: string) => string | undefined } => ({
  header: (name) => (name === header ? value : undefined),
});

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentId = '00f067aa0ba902b7';

describe('requestIdOf', () => {
  it('returns the id that the client sent if this id is usable, otherwise a new unique id', () => {
    for (const usable of ['a', 'x'.repeat(128), "!#$%&'()*+,-./:;<=>?@[]^_`{|}~"]) {
      assert.equal(requestIdOf(request('x-request-id', usable)), usable);
    }
    const unusable = ['', 'x'.repeat(129), 'a b', 'a"b', 'a\\b', 'café'].map((id) => request('x-request-id', id));
    const made = [...unusable, request('host', 'x'), request('host', 'x')].map(requestIdOf);
    for (const id of made) assert.match(id, /^[\w-]{12}-[\da-z]+$/);
    assert.equal(new Set(made).size, made.length);
  });
});

describe('traceparentOf', () => {
  it('returns the traceparent if it is valid (W3C Trace Context §3.2), otherwise undefined', () => {
    for (const [version, rest] of ['00 00', '00 ff', '01 01', 'fe 01-more'].map((parts) => parts.split(' '))) {
      const valid = `${version}-${traceId}-${parentId}-${rest}`;
      assert.equal(traceparentOf(request('traceparent', valid)), valid);
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
      assert.equal(traceparentOf(request('traceparent', invalid)), undefined, invalid);
    }
  });
});

describe('clientOf', () => {
  it("returns the Nth address from the right for N trusted proxies, otherwise the connection's address", () => {
    for (const [trustedProxies, forwardedFor, client] of [
      [0, '192.0.2.1', '127.0.0.1'],
      [1, '192.0.2.1', '192.0.2.1'],
      [1, '192.0.2.1,192.0.2.2 ', '192.0.2.2'],
      [2, '192.0.2.1, 2001:db8::1, 192.0.2.3', '2001:db8::1'],
      [3, '192.0.2.1, 192.0.2.2', '127.0.0.1'],
      [1, '', '127.0.0.1'],
      [1, '192.0.2.1, unknown', '127.0.0.1'],
      [1, '192.0.2.1:4711', '127.0.0.1'],
    ] as const) {
      const { header } = request('x-forwarded-for', forwardedFor);
      assert.equal(clientOf({ header, peerAddress: '127.0.0.1' }, trustedProxies), client, forwardedFor);
    }
    for (const peerAddress of ['127.0.0.1', undefined]) {
      assert.equal(clientOf({ header: () => undefined, peerAddress }, 1), peerAddress);
    }
  });
});
