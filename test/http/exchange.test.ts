import assert from 'node:assert/strict';
import { it } from 'node:test';
import { outcome } from '../support/call.ts';
import type { Call } from '../support/call.ts';
import { fronts } from '../support/service.ts';

const fern = '{"id":1,"name":"Fern"}';
const inCoding = (coding: string): Call => ({ body: fern, headers: { 'content-encoding': coding } });

/** Invalid requests, and similar requests that are valid. */
const cases = [
  { refused: { body: `\uFEFF\uFEFF${fern}` }, error: 40001, accepted: { body: `\uFEFF${fern}` } },
  { refused: inCoding('gzip'), error: 40007, accepted: inCoding('Identity') },
  { refused: { body: fern.padEnd(101) }, error: 40008, accepted: { body: fern.padEnd(100) } },
];

it('POST /plants rejects a body with two byte order marks, a content coding or too many bytes', async (t) => {
  for (const startService of Object.values(fronts)) {
    for (const { refused, error, accepted } of cases) {
      const service = await startService(t, { maxBodyBytes: 100 });
      assert.deepEqual(outcome(await service.call('POST', '/plants', refused)), [400, error]);
      assert.equal((await service.call('POST', '/plants', accepted)).status, 200);
    }
  }
});

it('POST /plants accepts a body that arrives one byte at a time', async (t) => {
  for (const startService of Object.values(fronts)) {
    const service = await startService(t);
    const name = 'Fern'.repeat(1000);
    const bytes = Array.from(Buffer.from(`{"id":1,"name":"${name}"}`), (byte) => Uint8Array.of(byte));
    const headers = { authorization: 'Bearer ada', 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: ReadableStream.from(bytes), duplex: 'half' } as const;
    assert.equal((await service.send(new Request(`${service.url}/plants`, init))).status, 200);
    assert.deepEqual(await service.store.listPlants('ada'), [{ id: 1n, name }]);
  }
});
