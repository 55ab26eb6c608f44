import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkCases } from '../../../../src/kits/conformance/cases.ts';
import { CheckClient } from '../../../../src/kits/conformance/check-client.ts';
import type { CheckTokens } from '../../../../src/kits/conformance/check-client.ts';
import type { Send } from '../../../../src/kits/conformance/exchange.ts';
import { runCases } from '../../../../src/kits/conformance/run-cases.ts';
import type { CheckResult } from '../../../../src/kits/conformance/run-cases.ts';
import { reportedResult, resultLines } from '../../../../src/tools/cli/output/check-report.ts';

/** Runs all checks and returns the report on the failed checks in both formats. */
async function reportOf(send: Send, tokens: CheckTokens): Promise<string> {
  const client = new CheckClient({ send, baseUrl: 'http://plants.example', tokens });
  const failed: CheckResult[] = [];
  for await (const result of runCases(checkCases, client)) if (result.outcome === 'failed') failed.push(result);
  assert.ok(failed.length > 100);
  return failed.map((result) => JSON.stringify(reportedResult(client, result)) + resultLines(client, result)).join('');
}

/** Returns a server that responds with this status. The response repeats the request's credentials, target and body. */
const repeating =
  (status: number): Send =>
  async ({ headers, target, body }) => {
    const credentials = headers['authorization'] ?? '';
    const message = `${credentials} ${encodeURIComponent(credentials)} ${target} ${String(body)}`;
    const text = JSON.stringify({ message }).replaceAll('/', '\\/').replaceAll('+', '\\u002B');
    return { status, headers: new Headers({ 'www-authenticate': credentials, [`x-${status}`]: '' }), text };
  };

describe('the report of plant-store check', () => {
  for (const [token, parts] of [
    ['abc+def/ghi~jkl.mno_pqr-stu==', /abc|_pqr/],
    ['ada', /\bada\b/],
    ['x+y', /\bx(?:\+|%2B|\\+u002B)y\b/],
  ] as const) {
    it(`does not contain the token ${token}, even if the server repeats it`, async () => {
      for (const status of [200, 404]) {
        const report = await reportOf(repeating(status), { a: token, b: 'bob' });
        assert.doesNotMatch(report, parts);
        assert.match(report, /Bearer \$TOKEN_A Bearer%20\$TOKEN_A /);
      }
    });
  }

  it('does not contain an incomplete token at the end of a truncated body', async () => {
    const token = 'abcdefghijklmnopqrst';
    const send: Send = async () => ({ status: 418, headers: new Headers(), text: `${'-'.repeat(295)}${token}` });
    assert.doesNotMatch(await reportOf(send, { a: token, b: 'bob' }), /abc/);
  });

  it('keeps words that contain a short token', async () => {
    const send: Send = async () => ({ status: 418, headers: new Headers(), text: 'Bearer a, b and r.' });
    const report = await reportOf(send, { a: 'a', b: 'b', readOnly: 'r' });
    assert.match(
      report,
      /\n {4}expected: status 404\n {4}received: status 418\n {14}Bearer \$TOKEN_A, \$TOKEN_B and \$READ_ONLY_TOKEN\.\n/,
    );
    assert.match(report, /\n {4}expected: a successful status, /);
    assert.match(report, / -H 'content-type: application\/json' /);
  });

  for (const [server, by] of [
    ['nginx/1.22.1', ' (Server: nginx/1.22.1)'],
    [undefined, ''],
  ] as const) {
    it(`notes that a proxy${by} probably sent an HTML page`, async () => {
      const headers = new Headers({
        'content-type': 'text/html; charset=utf-8',
        ...(server !== undefined && { server }),
      });
      const report = await reportOf(async () => ({ status: 400, headers, text: '<h1>400' }), { a: 'ada', b: 'bob' });
      const note = `A proxy or a web framework${by} probably sent this HTML page.`;
      assert.ok(report.includes(`\n              <h1>400\n    note:     ${note}\n    source: `), report);
      assert.ok(report.includes(`"note":"${note}"`));
    });
  }
});
