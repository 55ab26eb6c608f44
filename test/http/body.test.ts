import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { JsonBodyReader } from '../../src/http/body.ts';
import type { ServiceRequest } from '../../src/http/service-request.ts';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw-http.ts';
import { startService } from '../support/service.ts';

/** Returns a request whose body arrives when the test calls `arrive`. */
function slowRequest(bytes: number): { request: ServiceRequest; arrive: (text: string) => void } {
  const body = Promise.withResolvers<Buffer>();
  const request: ServiceRequest = {
    id: 'a',
    peerAddress: undefined,
    method: 'POST',
    target: '/plants',
    mountPath: '',
    isOpen: true,
    header: (name) => (name === 'content-type' ? 'application/json' : undefined),
    readBody: (_maxBytes, beforeWaiting) => {
      beforeWaiting(bytes);
      return body.promise;
    },
    discardBody: () => undefined,
    isClientGone: () => false,
  };
  return {
    request,
    arrive: (text) => {
      body.resolve(Buffer.from(text));
    },
  };
}

describe('JsonBodyReader', () => {
  it('limits the bytes of bodies that are being received, for each user to a quarter', async () => {
    const reader = new JsonBodyReader(100, 400);
    const first = slowRequest(100);
    const adas = reader.read(first.request, 'ada');
    await assert.rejects(reader.read(slowRequest(1).request, 'ada'), { code: 'saturated' });
    const others = ['bob', 'eve', 'joe'].map((user) => {
      const slow = slowRequest(100);
      return { ...slow, read: reader.read(slow.request, user) };
    });
    await assert.rejects(reader.read(slowRequest(1).request, 'kim'), { code: 'saturated' });
    first.arrive('{"id":1}');
    assert.deepEqual(await adas, { id: 1 });
    const kims = slowRequest(100);
    const read = reader.read(kims.request, 'kim');
    for (const { arrive } of [...others, kims]) arrive('[]');
    assert.deepEqual(await Promise.all([read, ...others.map((other) => other.read)]), [[], [], [], []]);
  });
});

describe('bodies that are sent slowly', () => {
  it('use at most the share of their user', async (t) => {
    const service = await startService(t);
    const start = async (token: string): Promise<RawConnection> => {
      const connection = await RawConnection.open(t, service.port);
      const header = `Host: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 65536`;
      connection.send(`POST /plants HTTP/1.1\r\n${header}\r\n\r\n{"id":1,`);
      return connection;
    };
    // 256 bodies of 64 KiB are 16 MiB, the share of one user.
    const slow = await Promise.all(Array.from({ length: 256 }, () => start('ada')));
    await eventually(async () => {
      const refused = await (await start('ada')).until(/\}$/);
      assert.match(refused, /^HTTP\/1\.1 503 /);
    });
    const whole = await start('bob');
    whole.send(`"name":"${'x'.repeat(65_536 - '{"id":1,"name":""}'.length)}"}`);
    assert.match(await whole.until(/\}$/), /^HTTP\/1\.1 200 /);
    for (const { socket } of slow) socket.destroy();
    await eventually(async () => {
      const answered = await service.call('POST', '/plants', { body: `{"id":2,"name":"${'x'.repeat(60_000)}"}` });
      assert.notEqual(answered.status, 503);
    });
  });
});
