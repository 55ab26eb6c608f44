import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertDescribed } from './described.ts';
import type { Received } from './described.ts';

describe('assertDescribed', () => {
  const headers = {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-type': 'application/json',
  };
  const received = (status: number, body: string, more: Record<string, string> = {}): Received => ({
    status,
    headers: new Headers({ ...headers, ...more }),
    text: body,
  });

  it('accepts a response that the document describes', () => {
    assertDescribed('GET', '/plants', received(200, '[{"name":"Fern"}]', { Link: '</plants>; rel="next"' }));
    assertDescribed('GET', '/nowhere', received(404, '{"error":40401,"message":"No."}'));
  });

  it('rejects any other status, header, media type and body', () => {
    const wrong: [string, string, Received][] = [
      ['GET', '/plants', received(418, '[]')],
      ['GET', '/nowhere', received(200, '[]')],
      ['GET', '/plants', received(200, '[{"tag":"fern"}]')],
      ['GET', '/plants', received(200, '[{"name":"Fern","tag":null}]')],
      ['GET', '/plants', received(200, '[]', { Server: 'plants' })],
      ['GET', '/plants', received(200, '[]', { 'content-type': 'text/plain' })],
      ['GET', '/plants', received(200, '[]', { 'cache-control': 'public' })],
      ['GET', '/plants', { ...received(200, '[]'), headers: new Headers({ 'content-type': 'application/json' }) }],
      ['GET', '/plants', received(400, '{"error":40001,"message":"Not of this operation."}')],
      ['GET', '/plants', received(401, '{"error":40101,"message":"Without a challenge."}')],
      ['HEAD', '/plants', received(200, '[]')],
      ['DELETE', '/plants/1', received(204, '{}')],
    ];
    for (const [method, target, response] of wrong) {
      const check = assertDescribed.bind(undefined, method, target, response);
      assert.throws(check, assert.AssertionError, `${method} ${target} ${response.status} ${response.text}`);
    }
  });
});
