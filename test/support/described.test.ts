import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assertDescribed } from './described.ts';

const headers = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-type': 'application/json',
};

function check(method: string, target: string, status: number, text: string, more: Record<string, string> = {}): void {
  assertDescribed(method, target, { status, headers: new Headers({ ...headers, ...more }), text });
}

it('assertDescribed rejects any status, header, media type or body that the document does not describe', () => {
  check('GET', '/plants', 200, '[{"name":"Fern"}]', { Link: '</plants>; rel="next"' });
  check('GET', '/nowhere', 404, '{"error":40401,"message":"No."}');
  const wrong: Parameters<typeof check>[] = [
    ['GET', '/plants', 418, '[]'],
    ['GET', '/nowhere', 200, '[]'],
    ['GET', '/plants', 200, '[{"tag":"fern"}]'],
    ['GET', '/plants', 200, '[{"name":"Fern","tag":null}]'],
    ['GET', '/plants', 200, '[]', { Server: 'plants' }],
    ['GET', '/plants', 200, '[]', { 'content-type': 'text/plain' }],
    ['GET', '/plants', 200, '[]', { 'cache-control': 'public' }],
    ['GET', '/plants', 400, '{"error":40001,"message":"Not of this operation."}'],
    ['GET', '/plants', 401, '{"error":40101,"message":"Without a challenge."}'],
    ['HEAD', '/plants', 200, '[]'],
    ['DELETE', '/plants/1', 204, '{}'],
  ];
  for (const args of wrong) assert.throws(check.bind(undefined, ...args), assert.AssertionError, JSON.stringify(args));
});
