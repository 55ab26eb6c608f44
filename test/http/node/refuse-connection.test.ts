import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { eventuallyEqual } from '../../support/eventually.ts';
import {
  chunkedPost,
  exchange,
  get,
  head,
  listRequest,
  openAccepted,
  parseRawAnswer,
  parseRawAnswers,
  post,
  RawConnection,
} from '../../support/raw-http.ts';
import type { Service } from '../../support/service.ts';
import { startHeldService, startImpatientService, startService } from '../../support/service.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

const fern = '{"id":1,"name":"Fern"}';
const ivy = '{"id":2,"name":"Ivy"}';

/** Starts an impatient service that stores plant 1 of ada. */
async function startWithPlant(t: HasAfter): Promise<Service> {
  const service = await startImpatientService(t);
  await service.store.createPlant('ada', { id: 1, name: 'Fern' });
  return service;
}

/** Asserts that no request had an effect on a service from {@link startWithPlant}. */
async function assertUnchanged({ store, faults }: Service): Promise<void> {
  assert.deepEqual(await store.listPlants('ada'), [{ id: 1n, name: 'Fern' }]);
  assert.deepEqual(faults, []);
}

describe('the response to a request that the server does not read completely', { concurrency: true }, () => {
  const refused: [string, string, number][] = [
    ['a request without a token', post('', 8_000_000).replace('Authorization', 'X'), 401],
    ['a body that is too large', post('', 8_000_000), 400],
    ['a header that is too large', `GET /plants HTTP/1.1\r\n${head}X: `, 431],
    ['input that is not HTTP', 'garbage\r\n\r\n', 400],
    ['CONNECT', 'CONNECT example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n', 404],
  ];
  for (const [name, text, status] of refused) {
    it(`reaches a client that sends the whole request before it reads: ${name}`, async (t) => {
      const [connection, socket] = await openAccepted(t, await startService(t));
      connection.socket.pause();
      connection.send(text);
      // Sent in pieces, so that some of them arrive after the response was sent.
      for (let n = 0; n < 64; n++) {
        connection.send('x'.repeat(65_536));
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      connection.socket.resume();
      assert.equal(parseRawAnswer(await connection.until(/\}$/)).status, status);
      assert.ok(socket.listenerCount('error') < 5, 'there is not one listener for each read');
      await connection.untilClosed();
    });
  }

  it('does not keep the connection of a client that never closes it', async (t) => {
    const { server, port } = await startService(t);
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).resume();
    t.after(() => {
      client.destroy();
    });
    client.write('garbage\r\n\r\n');
    await once(client, 'end');
    // The client does not end its side of the connection.
    const [socket] = await accepted;
    await eventuallyEqual(() => socket.destroyed, true);
  });
});

describe('an incomplete request', { concurrency: true }, () => {
  for (const [name, text, rest] of [
    ['a POST without the end of its body', post(ivy.slice(0, -1), ivy.length), '}'],
    ['a POST without its last chunk', `${chunkedPost}15\r\n${ivy}\r\n`, '0\r\n\r\n'],
  ] as const) {
    it(`has no effect if it times out: ${name}`, async (t) => {
      const service = await startWithPlant(t);
      const connection = await RawConnection.open(t, service.port, text);
      assert.match(await connection.until(/\}$/), /^HTTP\/1\.1 408 /);
      // The rest arrives while the connection is being closed.
      connection.send(rest);
      await connection.untilClosed();
      await assertUnchanged(service);
    });

    it(`has no effect if the client ends its side of the connection: ${name}`, async (t) => {
      const service = await startWithPlant(t);
      const connection = await RawConnection.open(t, service.port, text);
      connection.socket.end();
      assert.match(await connection.untilClosed(), /^HTTP\/1\.1 400 [^]*40009/);
      await assertUnchanged(service);
    });
  }

  it('has no effect if the rest is not HTTP', async (t) => {
    const service = await startWithPlant(t);
    const text = await exchange(t, service.port, `${chunkedPost}15\r\n${ivy}\r\nzz\r\n`);
    assert.match(text, /^HTTP\/1\.1 400 [^]*40009/);
    await assertUnchanged(service);
  });

  it('gets one response if the response does not depend on the rest', async (t) => {
    const { store, port } = await startService(t);
    const broken = `GET /plants HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(40)}zz\r\n`;
    for (const [from, to] of [
      [0, 1],
      [1, 2500],
    ] as const) {
      const ids = Array.from({ length: to - from }, (_, n) => from + n);
      await Promise.all(ids.map((id) => store.createPlant('ada', { id, name: 'Fern' })));
      const answer = await exchange(t, port, broken);
      // Node.js 22 cuts off a chunked list, which its client cannot mistake for a complete one.
      const end = to === 1 ? String.raw`"Fern"\}\]$` : '';
      assert.match(answer, new RegExp(String.raw`^HTTP/1\.1 (?:400 [^]*40009,|200 OK[^]*${end})`));
      assert.equal(answer.split('HTTP/1.1 ').length, 2);
    }
  });

  it('has its effect at once if its method is DELETE, whose body is not read', async (t) => {
    for (const framing of ['Content-Length: 100000', 'Transfer-Encoding: chunked']) {
      const { store, port } = await startWithPlant(t);
      const connection = await RawConnection.open(t, port, `DELETE /plants/1 HTTP/1.1\r\n${head}${framing}\r\n\r\n`);
      assert.match(await connection.until(/\r\n\r\n$/), /^HTTP\/1\.1 204 [^]*\r\nConnection: close\r\n/);
      assert.deepEqual(await store.listPlants('ada'), []);
      connection.send('2\r\nab\r\n');
      await connection.untilClosed();
    }
  });
});

describe('a client that ends its side of the connection', () => {
  it('gets the responses to its requests', async (t) => {
    const { port } = await startWithPlant(t);
    const connection = await RawConnection.open(t, port, post(ivy) + listRequest);
    connection.socket.end();
    assert.deepEqual(
      parseRawAnswers(await connection.untilClosed()).map(({ json }) => json),
      [{ name: 'Ivy' }, [{ name: 'Fern' }, { name: 'Ivy' }]],
    );
  });

  it('gets the response to a request that is in progress', async (t) => {
    const service = await startHeldService(t);
    const [connection, socket] = await openAccepted(t, service);
    const ended = once(socket, 'end');
    connection.send(post(fern));
    connection.socket.end();
    await ended;
    service.release();
    assert.match(await connection.untilClosed(), /^HTTP\/1\.1 200 OK[^]*"Fern"\}$/);
  });
});

describe('Expect: 100-continue', () => {
  const ask = (text: string): string => text.replace('Host: x', 'Host: x\r\nExpect: 100-continue');
  const askToCreate = ask(post('', fern.length));

  it('gets 100 Continue before the body is read', async (t) => {
    const { port } = await startService(t);
    const connection = await RawConnection.open(t, port, askToCreate);
    await connection.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    connection.send(fern);
    assert.match(await connection.until(/\}$/), /100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
  });

  it('gets the error response if the request is refused without its body', async (t) => {
    const { port } = await startService(t);
    for (const [text, status] of [
      [askToCreate.replace('ada', 'nobody'), 401],
      [askToCreate.replace('/plants', '/plant'), 404],
      [askToCreate.replace('application/json', 'text/plain'), 400],
      [ask(post('', 65_537)), 400],
    ] as const) {
      assert.equal(parseRawAnswer(await exchange(t, port, text)).status, status);
    }
  });

  it('gets 100 Continue even if the body was sent with it, because node:http would close the connection', async (t) => {
    const { port } = await startService(t);
    const received = (await RawConnection.open(t, port, ask(post(fern)))).until(/\}$/);
    assert.match(await received, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP[^]*\r\nConnection: keep-alive\r\n/);
  });

  it('gets 100 Continue after the response to the earlier request', async (t) => {
    const { port } = await startService(t);
    const connection = await RawConnection.open(t, port, post(fern) + askToCreate);
    await connection.until(/^HTTP\/1\.1 200 OK[^]*\}HTTP\/1\.1 100 Continue\r\n\r\n$/);
    connection.send(fern);
    assert.match(await connection.until(/40003/), /100 Continue\r\n\r\nHTTP\/1\.1 400 /);
  });

  it('is ignored if it is another expectation (RFC 9110 §10.1.1)', async (t) => {
    const { port } = await startService(t);
    const text = get('/plants', 'Expect: miracles\r\nConnection: close\r\n');
    assert.equal(parseRawAnswer(await exchange(t, port, text)).status, 200);
  });
});
