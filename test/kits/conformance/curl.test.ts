import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CheckClient } from '../../../src/kits/conformance/check-client.ts';
import { curlCommand } from '../../../src/kits/conformance/curl.ts';
import type { CheckRequest } from '../../../src/kits/conformance/exchange.ts';
import { sendByFetch } from '../../../src/kits/conformance/send-by-fetch.ts';
import { runSuccessfully } from '../../support/run-program.ts';
import { startService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { tokens } from './run-checks.ts';

const authorized = { authorization: 'Bearer ada' };
const list: CheckRequest = { method: 'GET', target: '/plants', headers: authorized };
const post = { method: 'POST', target: '/plants', headers: { ...authorized, 'content-type': 'application/json' } };

const requests: Record<string, CheckRequest> = {
  'a list': { ...list, target: '/plants?limit=2&after=1' },
  'a list without a token': { ...list, headers: {} },
  'a HEAD': { ...list, method: 'HEAD' },
  'a plant with quotation marks': { ...post, body: `{"id":1,"name":"'\\"$HOME"}` },
  'a plant with other characters': { ...post, body: '{"id":2,"name":"%s é\u{1F33F}"}' },
  'bytes that are not UTF-8': { ...post, body: Uint8Array.of(0x22, 0xfc, 0x22) },
  'a body without a media type': { ...post, headers: authorized, body: '{}' },
};

function curl(baseUrl: string, request: CheckRequest): string {
  return curlCommand(new CheckClient({ send: sendByFetch(baseUrl), baseUrl, tokens }), request);
}

describe('curlCommand', () => {
  for (const [name, request] of Object.entries(requests)) {
    it(`repeats a request: ${name}`, async (t) => {
      const [first, second] = [await startService(t), await startService(t)];
      const { status, text } = await sendByFetch(first.url)(request);
      const command = curl(second.url, request);
      assert.doesNotMatch(command, /Bearer ada/);
      const options = { cwd: await temporaryFolder(t), env: { ...process.env, TOKEN_A: 'ada' } };
      const output = await runSuccessfully('sh', ['-ec', `${command} -s`], options);
      const [head = '', body] = output.split('\r\n\r\n');
      assert.deepEqual([/^HTTP\/1\.1 (\d+)/.exec(head)?.[1], body], [String(status), text], command);
    });
  }

  it('omits a long body', () => {
    const command = curl('http://plants.example', { ...post, body: 'x'.repeat(501) });
    assert.match(command, / --data-binary @body \(501 bytes\)$/);
  });
});
