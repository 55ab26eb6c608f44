import assert from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { UnsentBytes } from '../../src/http/unsent-bytes.ts';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import { eventually } from '../support/eventually.ts';
import { listRequest, RawConnection } from '../support/raw-http.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { createPlants } from '../support/stored-plants.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

const newResponse = (): ServerResponse => new ServerResponse(new IncomingMessage(new Socket()));

/** Replaces `performance.now` by a clock that the test sets. */
function mockClock(t: TestContext): { nowMs: number } {
  const clock = { nowMs: 0 };
  t.mock.method(performance, 'now', () => clock.nowMs);
  return clock;
}

const areDestroyed = (responses: readonly ServerResponse[]): boolean[] => responses.map(({ destroyed }) => destroyed);

describe('UnsentBytes', () => {
  it('is full for all users at the maximum, and for one user at a quarter of it', () => {
    const unsent = new UnsentBytes(1000);
    unsent.set(newResponse(), 'ada', 249);
    assert.deepEqual([unsent.isFull('ada'), unsent.isFull('bob')], [false, false]);
    const last = newResponse();
    unsent.set(last, 'ada', 1);
    assert.deepEqual([unsent.isFull('ada'), unsent.isFull('bob')], [true, false]);
    for (const user of ['bob', 'eve', 'joe']) unsent.set(newResponse(), user, 249);
    assert.equal(unsent.isFull('kim'), false);
    unsent.set(newResponse(), 'zoe', 3);
    assert.equal(unsent.isFull('kim'), true);
    unsent.delete(last);
    unsent.delete(last);
    assert.deepEqual([unsent.isFull('ada'), unsent.isFull('kim')], [false, false]);
  });

  it('closes connections of a user that read nothing for a second, the slowest first, past the share of the user', (t) => {
    const clock = mockClock(t);
    const unsent = new UnsentBytes(1000);
    const [other, first, second, third] = [newResponse(), newResponse(), newResponse(), newResponse()];
    for (const [response, user] of [
      [other, 'bob'],
      [first, 'ada'],
      [second, 'ada'],
    ] as const) {
      unsent.set(response, user, 120);
    }
    clock.nowMs = 500;
    // The first client has read a piece, so the second is now the slowest.
    unsent.set(first, 'ada', 120);
    unsent.set(third, 'ada', 120);
    assert.equal(unsent.isFull('ada'), true);
    assert.deepEqual(areDestroyed([other, first, second, third]), [false, false, false, false]);
    clock.nowMs = 1000;
    assert.equal(unsent.isFull('ada'), false);
    assert.deepEqual(areDestroyed([other, first, second, third]), [false, false, true, false]);
  });

  it('closes connections of all users past the maximum', (t) => {
    const clock = mockClock(t);
    const unsent = new UnsentBytes(1000);
    const responses = ['ada', 'bob', 'eve', 'joe', 'kim', 'zoe'].map((user) => {
      const response = newResponse();
      unsent.set(response, user, 200);
      clock.nowMs += 100;
      return response;
    });
    assert.deepEqual(new Set(areDestroyed(responses)), new Set([false]));
    clock.nowMs = 1150;
    unsent.set(newResponse(), 'ann', 1);
    assert.deepEqual(areDestroyed(responses), [true, true, false, false, false, false]);
  });

  it('closes connections that are not stalled at twice the maximum', () => {
    const unsent = new UnsentBytes(1000);
    const responses = Array.from({ length: 5 }, newResponse);
    for (const response of responses) unsent.set(response, 'ada', 120);
    assert.deepEqual(areDestroyed(responses), [true, false, false, false, false]);
  });

  it('closes a connection that does not read its bytes within a minute', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const clock = mockClock(t);
    const unsent = new UnsentBytes(1000);
    const [slow, quick] = [newResponse(), newResponse()];
    unsent.set(slow, 'ada', 10);
    unsent.set(quick, 'ada', 10);
    clock.nowMs = 40_000;
    unsent.set(quick, 'ada', 10);
    clock.nowMs = 60_000;
    t.mock.timers.tick(1000);
    assert.deepEqual([slow.destroyed, quick.destroyed], [true, false]);
    clock.nowMs = 99_999;
    t.mock.timers.tick(1000);
    assert.equal(quick.destroyed, false);
  });
});

/** Opens a connection that requests a list and does not read it. */
async function stall(t: HasAfter, { port }: Service): Promise<RawConnection> {
  const connection = await RawConnection.open(t, port);
  connection.socket.pause();
  connection.send(listRequest);
  return connection;
}

describe('clients that do not read', () => {
  /** Starts a service where each user has 40 MB of plants, more than the kernel buffers for a client. */
  async function start(t: HasAfter, options: { maxUnsentBytes: number }): Promise<Service> {
    const service = await startService(t, { store: new PlantStore({ storage: new MemoryStorage() }), ...options });
    const name = '\u0001'.repeat(10_800);
    for (const user of ['ada', 'bob']) {
      await createPlants(service.store, 600, name, user);
    }
    return service;
  }

  it('cause new lists of their user to be refused until they are closed, and do not affect other users', async (t) => {
    const service = await start(t, { maxUnsentBytes: 4_000_000 });
    const stalled = await Promise.all(Array.from({ length: 12 }, () => stall(t, service)));
    // They stop reading at about the same time. For the next second the server waits in case they are only slow.
    await eventually(async () => {
      const answered = await service.call('GET', '/plants?limit=1');
      assert.deepEqual([answered.status, answered.headers.get('retry-after')], [503, '1']);
    }, 20_000);
    assert.equal((await service.call('POST', '/plants', { body: '{"id":-1,"name":"Fern"}' })).status, 200);
    assert.equal(((await service.call('GET', '/plants', { token: 'bob' })).json as unknown[]).length, 600);
    await eventually(async () => {
      assert.equal((await service.call('GET', '/plants?limit=1')).status, 200);
    });
    await eventually(() => {
      for (const { socket } of stalled) socket.resume();
      assert.ok(
        stalled.some(({ socket }) => socket.destroyed),
        'no connection was closed',
      );
    });
    assert.deepEqual(service.faults, []);
  });
});
