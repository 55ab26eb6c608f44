// Registers the suite for servers with faults. The suite must run in a process of its own, because it registers tests
// that are expected to fail.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '../../../src/testing/service/exchange.ts';
import { testService } from '../../../src/testing.ts';
import { createFetchService } from '../../support/service.ts';
import type { AnyService } from '../../support/service.ts';
import { brokenServers } from './broken-servers/broken-servers.ts';
import type { Break, Send } from './broken-servers/fault.ts';

// The timeout of a request. The default takes too long for this test.
const timeout = AbortSignal.timeout.bind(AbortSignal);
AbortSignal.timeout = () => timeout(1000);

const tokens = { a: 'ada', b: 'bob', readOnly: 'ada-reads' };

/** Creates plants that the tests must not change. */
async function plantSome({ store }: AnyService): Promise<void> {
  for (const user of ['ada', 'bob']) {
    for (const id of [-5n, 1n, 2n, 2n ** 53n, 2n ** 62n]) await store.createPlant(user, { id, name: `of ${user}` });
  }
}

async function contents({ store }: AnyService): Promise<unknown[]> {
  return [await store.listPlants('ada'), await store.listPlants('bob')];
}

function testServer(name: string, breakServer: Break): void {
  let service: AnyService;
  let direct: Send;
  testService(name, {
    tokens,
    url: async (t) => {
      service = createFetchService(t, {});
      direct = breakServer((request) => send(service.send, service.url, request), service);
      if (!name.startsWith('link-last-page')) await plantSome(service);
      const before = await contents(service);
      const cannotDelete = ['delete-gone', 'int64-delete-exact'].some((id) => name.startsWith(id));
      t.after(async () => {
        if (!cannotDelete) assert.deepEqual(await contents(service), before);
      });
      return service.url;
    },
    fetch: async (request) => {
      const { method, url, headers } = request;
      const given = { method, target: url.slice(service.url.length), headers: Object.fromEntries(headers) };
      const bytes = new Uint8Array(await request.arrayBuffer());
      const text = new TextDecoder().decode(bytes);
      const isText = Buffer.from(text).equals(bytes);
      const body = request.body === null ? {} : { body: isText ? text : bytes };
      const { status, ...answer } = await direct({ ...given, ...body });
      const hasBody = status !== 204 && method !== 'HEAD';
      return new Response(hasBody ? answer.text : null, { status, headers: answer.headers });
    },
  });
}

for (const [name, breakServer] of Object.entries(brokenServers)) testServer(name, breakServer);

/** Servers that send the same response to every request. */
const useless = {
  'an empty list': () => Response.json([]),
  'a 400': () => Response.json({}, { status: 400, headers: { 'content-length': '7' } }),
  'a 204': () => new Response(null, { status: 204, headers: { 'content-length': '0' } }),
  'a 500 with the token': () => new Response('The token is ada.', { status: 500, headers: { 'set-cookie': 'a=b' } }),
  'a closed connection': () => Promise.reject(new Error('The connection was closed.')),
  'no response': () => sleep(1300, new Response()),
};
for (const [name, respond] of Object.entries(useless)) {
  let count = 0;
  testService(`useless: ${name}`, {
    url: 'http://plants.example',
    tokens,
    // The first requests check whether the tests can be run.
    fetch: async () => (count++ < 13 ? Response.json([]) : respond()),
  });
}
