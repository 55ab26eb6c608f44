import assert from 'node:assert/strict';
import { it } from 'node:test';
import { outcome } from '../support/call.ts';
import type { Call } from '../support/call.ts';
import { describeOnBothFronts } from '../support/service.ts';

const fern = '{"id":1,"name":"Fern"}';
const withHeader = (name: string, value: string): Call => ({ body: fern, headers: { [name]: value } });
const json = 'application/json';
const utf8 = withHeader('content-type', `${json}; charset=utf8`);
const padded = (length: number): Call => ({ body: fern.padEnd(length) });

type Case = readonly [what: string, refused: Call, error: number, accepted: Call, maxBodyBytes?: number];

describeOnBothFronts('POST /plants', (startService) => {
  const cases: readonly Case[] = [
    ['a byte order mark', { body: `\uFEFF${fern}` }, 40001, { body: fern }],
    ['a similar charset', withHeader('content-type', `${json}; charset=utf-80`), 40007, utf8],
    ['a content coding', withHeader('content-encoding', 'gzip'), 40007, withHeader('content-encoding', 'Identity')],
    ['a body over maxBodyBytes', padded(101), 40008, padded(100), 100],
  ];
  for (const [what, refused, error, accepted, maxBodyBytes] of cases) {
    it(`rejects ${what}, but accepts a similar valid request`, async (t) => {
      const service = await startService(t, { maxBodyBytes });
      assert.deepEqual(outcome(await service.call('POST', '/plants', refused)), [400, error]);
      assert.equal((await service.call('POST', '/plants', accepted)).status, 200);
    });
  }

  it('accepts a body that arrives one byte at a time', async (t) => {
    const service = await startService(t);
    const name = 'Fern'.repeat(1000);
    const bytes = Buffer.from(`{"id":1,"name":"${name}"}`).values();
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const { value, done } = bytes.next();
        if (done === true) controller.close();
        else controller.enqueue(Uint8Array.of(value));
      },
    });
    const headers = { authorization: 'Bearer ada', 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body, duplex: 'half' } as const;
    assert.equal((await service.send(new Request(`${service.url}/plants`, init))).status, 200);
    assert.deepEqual(await service.store.listPlants('ada'), [{ id: 1n, name }]);
  });
});
