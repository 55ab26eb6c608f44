import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Answered } from '../../support/call.ts';
import { eventuallyEqual } from '../../support/eventually.ts';
import {
  begin,
  createRequest,
  exchange,
  listRequest,
  parseRawAnswer,
  post,
  RawConnection,
} from '../../support/raw-http.ts';
import { startHeldService, startService } from '../../support/service.ts';
import type { Service } from '../../support/service.ts';
import { createPlants } from '../../support/stored-plants.ts';

/** Sends a request that needs a permit, but not the storage. */
const listNothing = ({ call }: Service): Promise<Answered> => call('GET', '/plants?limit=0', { token: 'bob' });

describe('a request for which no permit is free', () => {
  it('is refused before its body is read', async (t) => {
    const { port, release, committing } = await startHeldService(t, { maxInFlight: 1 });
    await RawConnection.open(t, port, createRequest(1));
    await committing;
    for (const text of [post('', 60_000), post('', 60_000).replace('\r\n', '\r\nExpect: 100-continue\r\n')]) {
      const { status, error, head } = parseRawAnswer(await exchange(t, port, text));
      assert.deepEqual([status, error], [503, 50300]);
      assert.match(head, /^Retry-After: 1\r?$/m);
      assert.match(head, /^Connection: close\r?$/m);
    }
    release();
  });
});

describe('the permit of a request', { concurrency: true }, () => {
  it('is not held while the request waits for earlier requests on its connection', async (t) => {
    const service = await startHeldService(t, { maxInFlight: 3 });
    // Ada can hold two permits.
    const creates = [1, 2, 3].map(createRequest).join('');
    const connection = await RawConnection.open(t, service.port, creates);
    await service.committing;
    assert.equal((await service.call('GET', '/plants?limit=0')).status, 200);
    service.release();
    await connection.until(/plant 3/);
  });

  it("is held while the response is not read, until the server's timeout closes the connection", async (t) => {
    const service = await startService(t, { maxInFlight: 1 });
    // The plants take 40 MB, which the socket buffers cannot hold.
    await createPlants(service.store, 4000, 'x'.repeat(10_000));
    const { response } = await begin(t, service, listRequest, { isPaused: true });
    await eventuallyEqual(() => response.headersSent, true);
    // This shortens the server's timeout.
    response.socket?.setTimeout(300);
    assert.equal((await listNothing(service)).status, 503);
    await eventuallyEqual(async () => (await listNothing(service)).status, 200);
    assert.deepEqual([response.destroyed, response.writableFinished, service.faults], [true, false, []]);
  });
});
