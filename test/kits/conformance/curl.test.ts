import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CheckClient } from '../../../src/kits/conformance/check-client.ts';
import { curlCommand } from '../../../src/kits/conformance/curl.ts';
import type { CheckRequest } from '../../../src/kits/conformance/exchange.ts';
import { sendByFetch } from '../../../src/kits/conformance/send-by-fetch.ts';
import { runSuccessfully } from '../../support/run-program.ts';
import { startService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const json = { authorization: 'Bearer ada', 'content-type': 'application/json' };
const requests: Record<string, CheckRequest> = {
  'a list': { method: 'GET', target: '/plants?limit=2&after=1', headers: { authorization: 'Bearer ada' } },
  'a list without a token': { method: 'GET', target: '/plants', headers: {} },
  'a HEAD': { method: 'HEAD', target: '/plants', headers: { authorization: 'Bearer ada' } },
  'a plant with quotation marks': {
    method: 'POST',
    target: '/plants',
    headers: json,
    body: `{"id":1,"name":"'\\"$HOME"}`,
  },
  'a plant with other characters': {
    method: 'POST',
    target: '/plants',
    headers: json,
    body: '{"id":2,"name":"%s é\u{1F33F}"}',
  },
  'bytes that are not UTF-8': {
    method: 'POST',
    target: '/plants',
    headers: json,
    body: Uint8Array.of(0x22, 0xfc, 0x22),
  },
  'a body without a media type': {
    method: 'POST',
    target: '/plants',
    headers: { authorization: 'Bearer ada' },
    body: '{}',
  },
};

describe('curlCommand', () => {
  for (const [name, request] of Object.entries(requests)) {
    it(`repeats ${name}`, async (t) => {
      const cwd = await temporaryFolder(t);
      const first = await startService(t);
      const second = await startService(t);
      const { status, text } = await sendByFetch(first.url)(request);

      const client = new CheckClient({
        send: sendByFetch(second.url),
        baseUrl: second.url,
        tokens: { a: 'ada', b: 'bob' },
      });
      const command = curlCommand(client, request);
      assert.doesNotMatch(command, /Bearer ada/);
      const script = `${command} -s`;
      const output = await runSuccessfully('sh', ['-ec', script], { cwd, env: { ...process.env, TOKEN_A: 'ada' } });
      const [head = '', body] = output.split('\r\n\r\n');
      assert.deepEqual([/^HTTP\/1\.1 (\d+)/.exec(head)?.[1], body], [String(status), text], command);
    });
  }

  it('does not contain a long body', () => {
    const client = new CheckClient({
      send: sendByFetch('http://plants.example'),
      baseUrl: 'http://plants.example',
      tokens: { a: 'ada', b: 'bob' },
    });
    const command = curlCommand(client, { method: 'POST', target: '/plants', headers: json, body: 'x'.repeat(501) });
    assert.match(command, / --data-binary @body \(501 bytes\)$/);
  });
});
