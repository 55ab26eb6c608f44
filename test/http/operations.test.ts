import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startService } from '../support/service.ts';
import type { Call } from '../support/call.ts';
import type { Service } from '../support/service.ts';

const fern = { body: '{"id":1,"name":"Fern","tag":"indoor"}' };

async function assertRefusal(
  service: Service,
  method: string,
  target: string,
  call: Call,
  status: number,
  code: number,
): Promise<void> {
  const answered = await service.call(method, target, call);
  assert.equal(answered.status, status, `${method} ${target} ${JSON.stringify(call).slice(0, 200)}: ${answered.text}`);
  assert.equal(answered.error, code, answered.text);
}

describe('POST /plants', () => {
  it('rejects a byte order mark', async (t) => {
    const service = await startService(t);
    await assertRefusal(service, 'POST', '/plants', { body: '\uFEFF{"id":1,"name":"x"}' }, 400, 40001);
  });

  it('accepts unknown parameters of the media type, but not an empty media type', async (t) => {
    const service = await startService(t);
    const headersOf = (type: string): Call => ({ ...fern, headers: { 'content-type': type } });
    await assertRefusal(service, 'POST', '/plants', headersOf(''), 400, 40007);
    assert.equal((await service.call('POST', '/plants', headersOf('application/json; x=y'))).status, 200);
  });

  it('rejects a content coding other than identity', async (t) => {
    const service = await startService(t);
    await assertRefusal(service, 'POST', '/plants', { ...fern, headers: { 'content-encoding': 'gzip' } }, 400, 40007);
    const identity = { ...fern, headers: { 'content-encoding': 'Identity' } };
    assert.equal((await service.call('POST', '/plants', identity)).status, 200);
  });

  it('accepts a body of maxBodyBytes, and rejects one that is a byte longer', async (t) => {
    const service = await startService(t, { maxBodyBytes: 100 });
    const body = (length: number): string => '{"id":1,"name":"x"}'.padEnd(length);
    assert.equal((await service.call('POST', '/plants', { body: body(100) })).status, 200);
    await assertRefusal(service, 'POST', '/plants', { body: body(101) }, 400, 40008);
    await assertRefusal(service, 'POST', '/plants', { body: body(1_000_000) }, 400, 40008);
  });

  it('accepts bodies up to 64 KiB by default', async (t) => {
    const service = await startService(t);
    const padded = (length: number): string => `{"id":1,"name":"${'x'.repeat(length - 18)}"}`;
    await assertRefusal(service, 'POST', '/plants', { body: padded(65_537) }, 400, 40008);
    assert.equal((await service.call('POST', '/plants', { body: padded(65_536) })).status, 200);
  });

  it('creates the plant or responds with 40001 if a body is nested very deeply', async (t) => {
    const service = await startService(t);
    // The exact value of the second id is found with a reviver, which cannot process as many levels.
    for (const id of ['2', '9007199254740993']) {
      const nested = (levels: number): string =>
        `{"id":${id},"name":"","x":${'['.repeat(levels)}${']'.repeat(levels)}}`;
      const { status, error } = await service.call('POST', '/plants', { body: nested(32_000) });
      assert.ok(status === 200 || error === 40001, `${status} ${error}`);
      const repeated = await service.call('POST', '/plants', { body: nested(1000) });
      assert.equal(repeated.error, status === 200 ? 40003 : undefined);
    }
    assert.deepEqual(service.faults, []);
  });
});
