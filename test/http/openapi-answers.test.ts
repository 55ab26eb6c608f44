import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { errorTable, MemoryStorage, PlantStore, PlantStoreError } from '../../src/index.ts';
import { openApiDocument } from '../../src/http.ts';
import { commonErrors } from '../../src/http/routes.ts';
import { assertDescribed } from '../support/described.ts';
import type { Received } from '../support/described.ts';
import { authenticateByName, startService } from '../support/service.ts';
import type { Call } from '../support/service.ts';

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
  components: { responses: Record<string, Response> };
}

interface Response {
  $ref?: string;
  content?: { 'application/json': { schema: { allOf?: [object, { properties: { error: { enum: number[] } } }] } } };
}

const { paths, components } = openApiDocument() as unknown as Document;

/** What the service answers to: method, target, and how it is called. */
type Request = readonly [method: string, target: string, call?: Call];

const fern = '{"id":1,"name":"Fern"}';
const listErrors = (method: string): Request[] => [
  [method, '/plants'],
  [method, '/plants?limit=1'],
  [method, '/plants?limit=-1'],
  [method, '/plants?after=x'],
  [method, '/plants', { token: null }],
  [method, '/plants', { token: 'nobody' }],
  [method, '/plants', { token: 'ada-writes' }],
  [method, '/plants', { token: 'fault' }],
  [method, '/plants', { token: 'foreign' }],
];

/** Requests to a store that holds ada's plants 1 and 2. */
const requests: Request[] = [
  ...listErrors('GET'),
  ...listErrors('HEAD'),
  ['POST', '/plants', { body: '{"id":9223372036854775807,"name":"Moss","tag":"bryophyte"}' }],
  ['POST', '/plants', { body: fern }],
  ['POST', '/plants', { body: '{"id":"1","name":"Fern"}' }],
  ['POST', '/plants', { body: 'Fern' }],
  ['POST', '/plants', { body: fern, headers: { 'content-type': 'text/plain' } }],
  ['POST', '/plants', { body: fern.padEnd(70_000) }],
  ['POST', '/plants'],
  ['POST', '/plants', { body: fern, token: null }],
  ['POST', '/plants', { body: fern, token: 'nobody' }],
  ['POST', '/plants', { body: fern, token: 'ada-reads' }],
  ['POST', '/plants', { body: fern, token: 'fault' }],
  ['POST', '/plants', { body: fern, token: 'foreign' }],
  ['DELETE', '/plants/9223372036854775808'],
  ['DELETE', '/plants/404'],
  ['DELETE', '/plants/1', { token: 'bob' }],
  ['DELETE', '/plants/1', { token: null }],
  ['DELETE', '/plants/1', { token: 'nobody' }],
  ['DELETE', '/plants/1', { token: 'ada-reads' }],
  ['DELETE', '/plants/1', { token: 'fault' }],
  ['DELETE', '/plants/1', { token: 'foreign' }],
  ['DELETE', '/plants/1', { body: 'x'.repeat(70_000) }],
  ['DELETE', '/plants/1'],
  ['GET', '/openapi.json', { token: null }],
  ['HEAD', '/openapi.json'],
  ['OPTIONS', '/plants', { token: null }],
  ['OPTIONS', '/plants/1'],
  ['OPTIONS', '/openapi.json'],
  ['PATCH', '/plants', { body: fern }],
  ['GET', '/plants/1'],
  ['POST', '/openapi.json', { body: '{}' }],
  ['GET', '/'],
  ['DELETE', '/plants/'],
];

/** Requests to a store that is closed. */
const afterClose: Request[] = [
  ['GET', '/plants'],
  ['HEAD', '/plants'],
  ['POST', '/plants', { body: fern }],
  ['DELETE', '/plants/1'],
];

/**
 * The answers in the document, as `METHOD path`, status and the integers of `error`, if any; but for
 * the errors that node:http makes before there is a method.
 */
function describedAnswers(): string[] {
  const early = new Set<number>(commonErrors.map((code) => errorTable[code].error));
  const earlyStatuses = new Set(commonErrors.map((code) => String(errorTable[code].status)));
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { responses }]) =>
      Object.entries(responses).flatMap(([status, response]) => {
        const shared = response.$ref?.split('/').at(-1);
        // The answer to HEAD has no content, whatever a shared response says.
        const content =
          method === 'head'
            ? undefined
            : shared === undefined
              ? response.content
              : components.responses[shared]?.content;
        const answer = `${method.toUpperCase()} ${path} ${status}`;
        const integers = content?.['application/json'].schema.allOf?.[1]?.properties.error.enum;
        if (integers === undefined) return earlyStatuses.has(status) ? [] : [answer];
        return integers.filter((error) => !early.has(error)).map((error) => `${answer} ${error}`);
      }),
    ),
  );
}

/** Makes a request that fetch would refuse to make. */
async function oddRequest(url: string, options: RequestOptions): Promise<Received> {
  const sent = httpRequest(url, { ...options, agent: false }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const headers = new Headers(Object.entries(response.headers) as [string, string][]);
  return { status: response.statusCode ?? 0, headers, text: await text(response) };
}

describe('the OpenAPI document and the answers', () => {
  it('describes every answer, and describes none that is never given', async (t) => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    const service = await startService(t, {
      store,
      authenticate: (token) => {
        if (token === 'fault') throw new Error('no answer from the user directory');
        if (token === 'foreign') throw new PlantStoreError('storage_unsupported');
        return authenticateByName(token);
      },
    });
    await store.createPlant('ada', { id: 1, name: 'Fern' });
    await store.createPlant('ada', { id: 2, name: 'Ivy', tag: 'climber' });

    const given = new Set<string>();
    const call = async ([method, target, options]: Request): Promise<void> => {
      // service.call asserts that the answer is described.
      const { status, json } = await service.call(method, target, options);
      const path = target.replace(/\?.*/, '').replace(/(?<=\/plants\/).+/, '{id}');
      const integer = status < 400 || method === 'HEAD' ? '' : ` ${(json as { error: number }).error}`;
      given.add(`${method} ${path} ${status}${integer}`);
    };
    for (const request of requests) await call(request);
    await store.close();
    for (const request of afterClose) await call(request);
    assert.deepEqual(
      describedAnswers().filter((answer) => !given.has(answer)),
      [],
    );
  });

  it('agree on a header that is too large', async (t) => {
    const { url } = await startService(t);
    const received = await oddRequest(`${url}/plants`, { headers: { 'X-Large': 'x'.repeat(20_000) } });
    assert.equal(received.status, 431);
    assertDescribed('GET', '/plants', received);
  });

  it('agree on a malformed header', async (t) => {
    const { url } = await startService(t);
    const received = await oddRequest(`${url}/plants`, { headers: { 'Content-Length': 'x' } });
    assert.equal(received.status, 400);
    assertDescribed('GET', '/plants', received);
  });

  it('agree on a request without Host, which HTTP/1.1 demands (RFC 9112 §3.2)', async (t) => {
    const { url } = await startService(t);
    const received = await oddRequest(`${url}/plants`, { setHost: false });
    assert.equal(received.status, 400);
    assertDescribed('GET', '/plants', received);
  });

  it('agree on an expectation that nobody can meet (RFC 9110 §10.1.1)', async (t) => {
    const { url } = await startService(t);
    const headers = { Authorization: 'Bearer ada', Expect: 'miracles' };
    assertDescribed('GET', '/plants', await oddRequest(`${url}/plants`, { headers }));
  });
});

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

  it('takes what is described', () => {
    assertDescribed('GET', '/plants', received(200, '[{"name":"Fern"}]', { Link: '</plants>; rel="next"' }));
    assertDescribed('GET', '/nowhere', received(404, '{"error":40401,"message":"No."}'));
  });

  it('refuses any other status, header, media type and body', () => {
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
      const what = `${method} ${target} ${response.status} ${response.text}`;
      assert.throws(
        () => {
          assertDescribed(method, target, response);
        },
        assert.AssertionError,
        what,
      );
    }
  });
});
