// Registers the suite for servers with faults. The suite must run in a process of its own, because it registers tests
// that are expected to fail.
import { isUtf8 } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '../../../src/testing/service/exchange.ts';
import { registerTests } from '../../../src/testing/service/test-service.ts';
import { testService } from '../../../src/testing.ts';
import { createFetchService } from '../../support/service.ts';
import type { AnyService } from '../../support/service.ts';
import { brokenServers, checkOf } from './broken-servers/broken-servers.ts';
import type { Break, Send } from './broken-servers/fault.ts';

// The timeout of a request. The default takes too long for this test.
const timeout = AbortSignal.timeout.bind(AbortSignal);
AbortSignal.timeout = () => timeout(500);

const tokens = { a: 'ada', b: 'bob', readOnly: 'ada-reads' };

/** Runs the check that must fail on this server. */
function testServer(name: string, breakServer: Break): void {
  let service: AnyService;
  let direct: Send;
  const options = {
    tokens,
    url: async (t: { after: (cleanUp: () => Promise<void> | void) => void }) => {
      service = createFetchService(t, {});
      direct = breakServer((request) => send(service.send, service.url, request), service);
      return service.url;
    },
    fetch: async (request: Request) => {
      const { method, url, headers } = request;
      const bytes = new Uint8Array(await request.arrayBuffer());
      const body = isUtf8(bytes) ? new TextDecoder().decode(bytes) : bytes;
      const { status, ...answer } = await direct({
        method,
        target: url.slice(service.url.length),
        headers: Object.fromEntries(headers),
        body: request.body === null ? undefined : body,
      });
      const hasBody = status !== 204 && method !== 'HEAD';
      return new Response(hasBody ? answer.text : null, { status, headers: answer.headers });
    },
  };
  registerTests(name, options, new RegExp(` ${checkOf(name)} `));
}

for (const [name, breakServer] of Object.entries(brokenServers)) testServer(name, breakServer);

/** Servers that send the same response to every request. */
const useless = {
  'an empty list': () => Response.json([]),
  'a 400': () => Response.json({}, { status: 400, headers: { 'content-length': '7' } }),
  'a 204': () => new Response(null, { status: 204 }),
  'a 500 with the token': () => new Response('The token is ada.', { status: 500 }),
  'no response': () => sleep(700, new Response()),
};
for (const [name, respond] of Object.entries(useless)) {
  let count = 0;
  testService(`useless: ${name}`, {
    url: 'http://plants.example',
    tokens,
    // The first requests check whether the tests can be run.
    fetch: async () => (count++ < 3 ? Response.json([]) : respond()),
  });
}
