import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startService } from '../support/service.ts';
import type { Call, Service } from '../support/service.ts';

const fern = { body: '{"id":1,"name":"Fern","tag":"indoor"}' };
const error = (code: number, message: string): object => ({ error: code, message });

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
  assert.equal((answered.json as { error: number }).error, code, answered.text);
}

describe('POST /plants', () => {
  it('creates the plant and answers it without its id', async (t) => {
    const service = await startService(t);
    const answered = await service.call('POST', '/plants', fern);
    assert.equal(answered.status, 200);
    assert.equal(answered.text, '{"name":"Fern","tag":"indoor"}');
    assert.deepEqual(await service.store.listPlants('ada'), [{ id: 1n, name: 'Fern', tag: 'indoor' }]);
  });

  it('leaves an absent tag out, keeps an empty one, and ignores unknown fields', async (t) => {
    const service = await startService(t);
    assert.equal((await service.call('POST', '/plants', { body: '{"id":1,"name":""}' })).text, '{"name":""}');
    assert.equal(
      (await service.call('POST', '/plants', { body: '{"id":2,"name":"x","tag":"","colour":"green"}' })).text,
      '{"name":"x","tag":""}',
    );
  });

  it('keeps ids exact that a double would merge', async (t) => {
    const service = await startService(t);
    for (const id of [
      '9007199254740992',
      '9007199254740993',
      '-9223372036854775808',
      '9223372036854775807',
      '5.0',
      '6e3',
    ]) {
      assert.equal((await service.call('POST', '/plants', { body: `{"id":${id},"name":"${id}"}` })).status, 200, id);
    }
    const ids = (await service.store.listPlants('ada')).map(({ id }) => id);
    assert.deepEqual(ids, [-(2n ** 63n), 5n, 6000n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n]);
  });

  it('refuses an id that is taken and leaves the plant as it is', async (t) => {
    const service = await startService(t);
    await service.call('POST', '/plants', fern);
    const answered = await service.call('POST', '/plants', { body: '{"id":1.0,"name":"Moss"}' });
    assert.deepEqual([answered.status, answered.json], [400, error(40003, 'You already have a plant with this id.')]);
    assert.equal((await service.call('GET', '/plants')).text, '[{"name":"Fern","tag":"indoor"}]');
    assert.equal((await service.call('POST', '/plants', { ...fern, token: 'bob' })).status, 200);
  });

  it('refuses what is not JSON in UTF-8', async (t) => {
    const service = await startService(t);
    for (const body of ['', '{', 'id=1', '{"id":1,"name":"x"}}', '\uFEFF{"id":1,"name":"x"}']) {
      await assertRefusal(service, 'POST', '/plants', { body }, 400, 40001);
    }
    const latin1 = Buffer.from('{"id":1,"name":"Löwenzahn"}', 'latin1');
    await assertRefusal(service, 'POST', '/plants', { body: latin1 }, 400, 40001);
    await assertRefusal(service, 'POST', '/plants', {}, 400, 40007);
  });

  it('refuses what is not a NewPlant, saying why', async (t) => {
    const service = await startService(t);
    const bodies = [
      'null',
      '[]',
      '"x"',
      '1',
      '{}',
      '{"id":1}',
      '{"name":"x"}',
      '{"id":"1","name":"x"}',
      '{"id":1.5,"name":"x"}',
      '{"id":null,"name":"x"}',
      '{"id":9223372036854775808,"name":"x"}',
      '{"id":-9223372036854775809,"name":"x"}',
      '{"id":1,"name":null}',
      '{"id":1,"name":2}',
      '{"id":1,"name":"x","tag":null}',
      '{"id":1,"name":"a\\u0000b"}',
      '{"id":1,"name":"\\ud800"}',
      '{"id":1,"name":"x","tag":"\\udc00"}',
      '{"id":1.00000000000000000001,"name":"x"}',
      '{"id":true,"name":"x"}',
      '{"id":{},"name":"x"}',
      '{"__proto__":{"id":1,"name":"x"}}',
    ];
    for (const body of bodies) await assertRefusal(service, 'POST', '/plants', { body }, 400, 40002);
    assert.deepEqual(await service.store.listPlants('ada'), []);
    assert.deepEqual(service.faults, []);
  });

  it('takes application/json only, as UTF-8 and without a content coding', async (t) => {
    const service = await startService(t);
    const taken = [
      'application/json',
      'Application/JSON; charset=UTF-8',
      'application/json;charset="utf-8"',
      'application/json; x=y',
    ];
    for (const [n, type] of taken.entries()) {
      const call = { body: `{"id":${n},"name":"x"}`, headers: { 'content-type': type } };
      assert.equal((await service.call('POST', '/plants', call)).status, 200, type);
    }
    for (const type of [
      'text/plain',
      'application/jsonp',
      'application/xml',
      'application/json; charset=latin1',
      'application/vnd.api+json',
      '',
    ]) {
      await assertRefusal(service, 'POST', '/plants', { ...fern, headers: { 'content-type': type } }, 400, 40007);
    }
    await assertRefusal(service, 'POST', '/plants', { ...fern, headers: { 'content-encoding': 'gzip' } }, 400, 40007);
    const identity = { body: '{"id":99,"name":"x"}', headers: { 'content-encoding': 'Identity' } };
    assert.equal((await service.call('POST', '/plants', identity)).status, 200);
  });

  it('takes a body of maxBodyBytes and none that is a byte longer', async (t) => {
    const service = await startService(t, { maxBodyBytes: 100 });
    const body = (length: number): string => '{"id":1,"name":"x"}'.padEnd(length);
    assert.equal((await service.call('POST', '/plants', { body: body(100) })).status, 200);
    await assertRefusal(service, 'POST', '/plants', { body: body(101) }, 400, 40008);
    await assertRefusal(service, 'POST', '/plants', { body: body(1_000_000) }, 400, 40008);
  });

  it('holds bodies to 64 KiB and 256 levels where nothing else is said', async (t) => {
    const service = await startService(t);
    const padded = (length: number): string => `{"id":1,"name":"${'x'.repeat(length - 18)}"}`;
    await assertRefusal(service, 'POST', '/plants', { body: padded(65_537) }, 400, 40008);
    assert.equal((await service.call('POST', '/plants', { body: padded(65_536) })).status, 200);
    const nested = (levels: number): string =>
      `{"id":2,"name":"","x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    await assertRefusal(service, 'POST', '/plants', { body: nested(257) }, 400, 40001);
    assert.equal((await service.call('POST', '/plants', { body: nested(256) })).status, 200);
  });
});

describe('DELETE /plants/{id}', () => {
  it('deletes the plant and answers 204 without a body', async (t) => {
    const service = await startService(t);
    await service.call('POST', '/plants', { body: '{"id":-9223372036854775808,"name":"x"}' });
    const answered = await service.call('DELETE', '/plants/-9223372036854775808');
    assert.deepEqual([answered.status, answered.text], [204, '']);
    assert.equal((await service.call('GET', '/plants')).text, '[]');
  });

  it('answers the same 404 for an absent plant and for another user’s', async (t) => {
    const service = await startService(t);
    await service.call('POST', '/plants', fern);
    const absent = await service.call('DELETE', '/plants/2', { token: 'bob' });
    const foreign = await service.call('DELETE', '/plants/1', { token: 'bob' });
    assert.equal(absent.status, 404);
    assert.deepEqual([foreign.status, foreign.text], [absent.status, absent.text]);
    const names = (answered: { headers: Headers }): string[] => [...answered.headers.keys()];
    assert.deepEqual(names(foreign), names(absent));
    assert.equal((await service.call('GET', '/plants')).text, '[{"name":"Fern","tag":"indoor"}]');
  });

  it('refuses an id that is no decimal int64', async (t) => {
    const service = await startService(t);
    for (const id of [
      'x',
      '1.0',
      '1e3',
      '+1',
      '0x1',
      '%',
      '%zz',
      '%20',
      '1%2F2',
      '-',
      '9223372036854775808',
      '٣',
      '1'.repeat(5000),
    ]) {
      await assertRefusal(service, 'DELETE', `/plants/${id}`, {}, 400, 40004);
    }
  });

  it('takes percent-encoded digits for what they stand for', async (t) => {
    const service = await startService(t);
    await service.call('POST', '/plants', { body: '{"id":-12,"name":"x"}' });
    assert.equal((await service.call('DELETE', '/plants/%2D1%32')).status, 204);
  });
});
