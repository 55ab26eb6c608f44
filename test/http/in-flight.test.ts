import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InFlight } from '../../src/http/in-flight.ts';
import { eventually } from '../support/eventually.ts';
import { heldStorage } from '../support/held-storage.ts';
import { head, RawConnection } from '../support/raw-http.ts';
import { startService } from '../support/service.ts';

function begin(inFlight: InFlight, user: string, count: number): void {
  for (let n = 0; n < count; n++) inFlight.begin(user);
}

describe('InFlight', () => {
  it('rejects requests of one user past three quarters of the maximum, and accepts those of other users', () => {
    const inFlight = new InFlight(8);
    begin(inFlight, 'ada', 6);
    assert.throws(
      () => {
        inFlight.begin('ada');
      },
      { code: 'saturated' },
    );
    begin(inFlight, 'bob', 2);
    inFlight.end('ada');
    begin(inFlight, 'ada', 1);
    assert.throws(
      () => {
        inFlight.begin('ada');
      },
      { code: 'saturated' },
    );
  });

  it('rejects every request past the maximum', () => {
    const inFlight = new InFlight(8);
    begin(inFlight, 'ada', 4);
    begin(inFlight, 'bob', 4);
    assert.throws(
      () => {
        inFlight.begin('eve');
      },
      { code: 'saturated' },
    );
    inFlight.end('bob');
    begin(inFlight, 'eve', 1);
  });

  it('accepts one request if the maximum is one', () => {
    const inFlight = new InFlight(1);
    begin(inFlight, 'ada', 1);
    assert.throws(
      () => {
        inFlight.begin('bob');
      },
      { code: 'saturated' },
    );
    inFlight.end('ada');
    begin(inFlight, 'bob', 1);
  });
});

describe('maxInFlight', () => {
  it('is the number of requests in progress past which requests get 503', async (t) => {
    const { storage, release, calls } = heldStorage({ lists: true });
    const service = await startService(t, { storage, maxInFlight: 2 });
    const call: typeof service.call = (...parameters) => service.call(...parameters);
    const [listing, creating] = [call('GET', '/plants'), call('POST', '/plants', { body: '{"id":1,"name":"Fern"}' })];
    await eventually(() => {
      assert.equal(calls(), 2);
    });
    for (const [method, target, body] of [
      ['GET', '/plants'],
      ['POST', '/plants', '{"id":2,"name":"Ivy"}'],
      ['DELETE', '/plants/1'],
    ] as const) {
      const { status, error, headers } = await call(method, target, body === undefined ? {} : { body });
      assert.deepEqual([status, error, headers.get('retry-after')], [503, 50300, '1']);
    }
    assert.equal((await call('GET', '/openapi.json')).status, 200, 'the document does not need the store');
    release();
    assert.deepEqual([(await listing).status, (await creating).status], [200, 200]);
    assert.deepEqual((await call('GET', '/plants')).json, [{ name: 'Fern' }]);
    assert.equal((await call('DELETE', '/plants/2')).status, 404);
    assert.deepEqual(service.faults, []);
  });

  it('does not count requests that got a response', async (t) => {
    const service = await startService(t, { maxInFlight: 1 });
    const statuses: number[] = [];
    for (let n = 0; n < 2; n++) {
      for (let m = 0; m < 2; m++) {
        statuses.push((await service.call('POST', '/plants', { body: `{"id":${m},"name":"Fern"}` })).status);
      }
      for (const target of ['/plants', '/plants?limit=1', '/plants?limit=x']) {
        statuses.push((await service.call('GET', target)).status);
      }
      for (let m = 0; m < 2; m++) statuses.push((await service.call('DELETE', '/plants/1')).status);
    }
    assert.deepEqual(statuses, [200, 200, 200, 200, 400, 204, 404, 400, 200, 200, 200, 400, 204, 404]);
  });

  it('does not count bodies that are still being sent', async (t) => {
    const service = await startService(t, { maxInFlight: 1 });
    for (let n = 0; n < 3; n++) {
      const slow = await RawConnection.open(t, service.port);
      slow.send(`POST /plants HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
    }
    assert.equal((await service.call('GET', '/plants')).status, 200);
  });
});
