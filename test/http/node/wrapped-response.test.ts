import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { ServiceListener } from '../../../src/http.ts';
import { eventuallyEqual } from '../../support/eventually.ts';
import { listenUrl } from '../../support/listen.ts';
import { createListener } from '../../support/service.ts';
import { createPlants } from '../../support/stored-plants.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

const headers = { authorization: 'Bearer ada' };

/** Serves a listener after `wrap` has changed the response, as a middleware does. Returns the base URL. */
function serveWrapped(t: HasAfter, listener: ServiceListener, wrap: (response: ServerResponse) => void) {
  return listenUrl(
    t,
    createServer((request, response) => {
      wrap(response);
      void listener(request, response);
    }),
  );
}

describe('a response whose methods a middleware has wrapped', () => {
  it('contains the whole list if `write` drops its callback', async (t) => {
    const { listener, store } = createListener(t, { maxInFlight: 1 });
    await createPlants(store, 5000, 'x'.repeat(200));
    const url = await serveWrapped(t, listener, (response) => {
      const write = response.write.bind(response) as (chunk: unknown) => boolean;
      response.write = (chunk: unknown) => write(chunk);
    });
    const first = await fetch(`${url}/plants`, { headers });
    assert.equal(((await first.json()) as unknown[]).length, 5000);
    const second = await fetch(`${url}/plants`, { headers });
    assert.equal(((await second.json()) as unknown[]).length, 5000, 'the permit is free');
  });

  it('has all headers if `writeHead` understands only objects and lists of pairs', async (t) => {
    const { listener } = createListener(t);
    // on-headers before 1.1.0 reads an array in this way.
    const url = await serveWrapped(t, listener, (response) => {
      const writeHead = response.writeHead.bind(response);
      const wrapped = (status: number, fields: Record<string, string> | [string, string][]): void => {
        const pairs = Array.isArray(fields) ? fields : Object.entries(fields);
        for (const [name, value] of pairs) response.setHeader(name, value);
        writeHead(status);
      };
      Object.assign(response, { writeHead: wrapped });
    });
    const { status, headers: received } = await fetch(`${url}/plants`);
    const names = ['content-type', 'cache-control', 'x-content-type-options', 'www-authenticate'];
    assert.deepEqual(
      [status, ...names.map((name) => received.get(name))],
      [401, 'application/json', 'no-store', 'nosniff', 'Bearer realm="plants"'],
    );
  });
});

/**
 * Creates a request and a response as test doubles and serverless adapters do. Returns also the chunks of the body that
 * the response has received. Nothing emits an event.
 */
function createDoubles(target: string): { request: IncomingMessage; response: ServerResponse; chunks: unknown[] } {
  const request = new IncomingMessage(new Socket());
  Object.assign(request, { method: 'GET', url: target, headers, complete: true });
  const response = new ServerResponse(request);
  const chunks: unknown[] = [];
  Object.assign(response, {
    on: () => undefined,
    write: (chunk: unknown) => void chunks.push(chunk),
    end: (chunk: unknown = '') => {
      chunks.push(chunk);
      Object.defineProperty(response, 'writableFinished', { value: true });
    },
  });
  return { request, response, chunks };
}

describe('createRequestListener with a request and a response that no server has created', () => {
  it('responds although the request has no socket, no raw headers and no version', async (t) => {
    const { listener, faults } = createListener(t, { maxInFlight: 1 });
    for (let n = 0; n < 2; n++) {
      const { request, response, chunks } = createDoubles('/plants?limit=1');
      for (const name of ['socket', 'rawHeaders', 'httpVersion']) {
        Object.defineProperty(request, name, { value: undefined });
      }
      await listener(request, response);
      assert.deepEqual([response.statusCode, chunks, faults], [200, ['[]'], []]);
    }
  });

  it('sends a long list although `write` and `on` return nothing', async (t) => {
    const { listener, store } = createListener(t);
    await createPlants(store, 2500);
    const { request, response, chunks } = createDoubles('/plants');
    await listener(request, response);
    assert.equal((JSON.parse(chunks.map(String).join('')) as unknown[]).length, 2500);
  });

  it('destroys the response and reports one error if the request or the response lacks a method', async (t) => {
    const { listener, faults } = createListener(t, { maxInFlight: 1 });
    for (const missing of ['url', 'writeHead'] as const) {
      const { request, response } = createDoubles('/plants');
      Object.defineProperty(missing === 'url' ? request : response, missing, { value: 7 });
      await listener(request, response);
      assert.ok(response.destroyed, missing);
      assert.ok(faults.splice(0).length === 1, missing);
    }
    const { request, response, chunks } = createDoubles('/plants');
    await listener(request, response);
    assert.deepEqual(chunks, ['[]'], 'the permit is free');
  });
});

describe('the promise of the listener', () => {
  it('resolves when the response has been sent, or its client has disconnected', async (t) => {
    const { listener, store } = createListener(t);
    await createPlants(store, 20_000, 'x'.repeat(2000));
    const settled: boolean[] = [];
    const server = createServer((request, response) => {
      void listener(request, response).then(() => settled.push(response.writableFinished));
    });
    const url = await listenUrl(t, server);
    await (await fetch(`${url}/plants?limit=1`, { headers })).text();
    const client = new AbortController();
    const begun = await fetch(`${url}/plants`, { headers, signal: client.signal });
    assert.deepEqual([begun.status, settled], [200, [true]]);
    const closed = once(server, 'close');
    client.abort();
    server.close();
    await closed;
    await eventuallyEqual(() => settled, [true, false]);
  });
});
