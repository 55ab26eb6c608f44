import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertDescribed } from '../../support/described.ts';
import { eventuallyEqual } from '../../support/eventually.ts';
import {
  begin,
  chunkedPost,
  createRequest,
  get,
  head,
  listRequest,
  openAccepted,
  parseRawAnswer,
  parseRawAnswers,
  post,
  RawConnection,
} from '../../support/raw-http.ts';
import type { RawAnswer } from '../../support/raw-http.ts';
import { countConnections, startHeldService, startImpatientService, startService } from '../../support/service.ts';
import { createPlants } from '../../support/stored-plants.ts';

const ivy = '{"id":2,"name":"Ivy"}';
const lastList = get('/plants', 'Connection: close\r\n');
const beginning = post(ivy.slice(0, -1), ivy.length);
const beginningInChunks = `${chunkedPost}15\r\n${ivy}\r\n`;
const withoutToken = 'POST /plants HTTP/1.1\r\nHost: x\r\n';
const chunked = 'Transfer-Encoding: chunked\r\n\r\n';
const listWithBody = `GET /plants HTTP/1.1\r\n${head}${chunked}1\r\nx\r\n`;
const connectRequest = 'CONNECT example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n';
const upgradeRequest = 'GET /plants HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n';
const ask = (text: string): string => text.replace('Host: x', 'Host: x\r\nExpect: 100-continue');
const askToCreate = ask(post('', ivy.length));

/**
 * What a client sends, and what the client does next. `outcomes` contains one number for each response: the integer of
 * the Error body, or the status if there is no Error body. `rest` is sent after the first response.
 */
const exchanges: [
  what: string,
  text: string,
  then: 'waits' | 'times out' | 'ends',
  outcomes: number[],
  rest?: string,
][] = [
  ['input that is not HTTP', 'garbage\r\n\r\n', 'waits', [40009]],
  ['NUL bytes', '\0\0\0\0', 'waits', [40009]],
  ['an unknown version', 'GET /plants HTTP/9.9\r\n\r\n', 'waits', [40009]],
  ['a header without a colon', 'GET /plants HTTP/1.1\r\nHost x\r\n\r\n', 'waits', [40009]],
  ['a header that is too large', get('/plants', `X: ${'x'.repeat(20_000)}\r\n`), 'waits', [43100]],
  ['a header that times out', 'GET /pla', 'times out', [40800]],
  ['a body that times out', beginning, 'times out', [40800], '}'],
  ['a chunked body that times out', beginningInChunks, 'times out', [40800], '0\r\n\r\n'],
  ['a body that ends too early', beginning, 'ends', [40009]],
  ['a chunked body that ends too early', beginningInChunks, 'ends', [40009]],
  ['a chunked body that is not HTTP', `${beginningInChunks}zz\r\n`, 'waits', [40009]],
  ['a chunk that is too large', `${chunkedPost}10001\r\n${'x'.repeat(65_537)}`, 'waits', [40008]],
  ['no body, then a list', `${post('').replace('Content-Length: 0\r\n', '')}${lastList}`, 'waits', [40001, 200]],
  ['GET with a body that is not HTTP', listWithBody, 'waits', [200], 'zz\r\n'],
  ['DELETE with a body that is not HTTP', `DELETE /plants/9 HTTP/1.1\r\n${head}${chunked}`, 'waits', [40402], 'zz\r\n'],
  ['no token, and a body that is not HTTP', `${withoutToken}${chunked}zz\r\n`, 'waits', [40009]],
  ['no token, and then a body that is not HTTP', `${withoutToken}${chunked}1\r\na\r\n`, 'waits', [40101], 'zz\r\n'],
  ['no token, and a body that times out', `${withoutToken}Content-Length: 5\r\n\r\nab`, 'times out', [40101]],
  [
    'no token, and a body that arrives later, before another request',
    `${withoutToken}Content-Length: 5\r\n\r\nab`,
    'waits',
    [40101],
    `cde${createRequest(2)}`,
  ],
  [
    'no token, and bodies that arrive with their headers, before another request',
    `${withoutToken}Content-Length: 5\r\n\r\nabcde${withoutToken}${chunked}1\r\na\r\n0\r\n\r\n${lastList}`,
    'waits',
    [40101, 40101, 200],
  ],
  ['CONNECT', connectRequest, 'waits', [40401]],
  ['CONNECT after a response', listRequest, 'waits', [200, 40401], connectRequest],
  ['an expectation and no valid token', askToCreate.replace('ada', 'nobody'), 'waits', [40102]],
  ['an expectation and an unknown path', askToCreate.replace('/plants', '/plant'), 'waits', [40401]],
  ['an expectation and another media type', askToCreate.replace('application/json', 'text/plain'), 'waits', [40007]],
  ['an expectation and a body that is too large', ask(post('', 65_537)), 'waits', [40008]],
  ['another expectation, which is ignored', get('/plants', 'Expect: x\r\nConnection: close\r\n'), 'waits', [200]],
];

/** If a request was malformed, too large or too slow, asserts that the OpenAPI document describes the response. */
function assertEarlyErrorDescribed({ status, head: headers, json, error = 0 }: RawAnswer): void {
  if (![40009, 40800, 43100].includes(error)) return;
  const pairs = headers
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(': ') as [string, string]);
  assertDescribed('GET', '/plants', { status, headers: new Headers(pairs), text: JSON.stringify(json) });
}

describe('a connection receives its responses, is closed, and releases its permit', { concurrency: true }, () => {
  for (const [what, text, then, outcomes, rest] of exchanges) {
    it(`after ${what}`, async (t) => {
      const start = then === 'times out' ? startImpatientService : startService;
      const { store, port, call, faults } = await start(t, { maxInFlight: 1 });
      await store.createPlant('ada', { id: 1, name: 'Fern' });
      const connection = await RawConnection.open(t, port, text);
      if (then === 'ends') connection.socket.end();
      if (rest !== undefined) {
        await connection.until(/[}\]]$/);
        connection.send(rest);
      }
      const answers = parseRawAnswers(await connection.untilClosed());
      assert.deepEqual(
        answers.map(({ status, error }) => error ?? status),
        outcomes,
      );
      assert.match(answers.at(-1)?.head ?? '', /^Connection: close\r?$/m);
      answers.forEach(assertEarlyErrorDescribed);
      // This request needs the only permit.
      await eventuallyEqual(async () => (await call('GET', '/plants')).json, [{ name: 'Fern' }]);
      assert.deepEqual(faults, []);
    });
  }
});

describe('the response to a request that the server does not read completely', () => {
  const refused: [string, string, number][] = [
    ['a request without a token', post('', 8_000_000).replace('Authorization', 'X'), 401],
    ['a body that is too large', post('', 8_000_000), 400],
    ['a header that is too large', `GET /plants HTTP/1.1\r\n${head}X: `, 431],
    ['input that is not HTTP', 'garbage\r\n\r\n', 400],
    ['CONNECT', connectRequest, 404],
  ];
  for (const [name, text, status] of refused) {
    it(`reaches a client that sends the whole request before reading the response: ${name}`, async (t) => {
      const [connection, socket] = await openAccepted(t, await startService(t));
      connection.socket.pause();
      connection.send(text + 'x'.repeat(65_536));
      await eventuallyEqual(() => socket.writableEnded, true);
      // This data arrives after the response has been sent.
      connection.send('x'.repeat(1_000_000));
      await sleep(20);
      connection.socket.resume();
      assert.equal(parseRawAnswer(await connection.until(/\}$/)).status, status);
      assert.ok(socket.listenerCount('error') < 5, 'there is not one listener for each read');
      await connection.untilClosed();
    });
  }

  it('does not keep the connection open if the client never closes its side', async (t) => {
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

describe('a list request whose body turns out to be malformed after the response has begun', () => {
  it('receives no second response', async (t) => {
    const service = await startService(t);
    // The plants take 20 MB, which the socket buffers cannot hold.
    await createPlants(service.store, 2000, 'x'.repeat(10_000));
    const { connection, response } = await begin(t, service, listWithBody, { isPaused: true });
    await eventuallyEqual(() => response.headersSent, true);
    const refused = once(service.server, 'clientError');
    connection.send('zz\r\n');
    await refused;
    connection.socket.resume();
    assert.equal((await connection.untilClosed()).split('HTTP/1.1 ').length, 2);
  });
});

describe('input that is not HTTP while a request is in progress', () => {
  it('adds one listener to the response to this request, not one for each read', async (t) => {
    const service = await startHeldService(t);
    const { connection, response } = await begin(t, service, createRequest(1));
    await service.committing;
    const before = response.listenerCount('close');
    for (let read = 0; read < 5; read++) {
      const refused = once(service.server, 'clientError');
      connection.send('garbage\r\n\r\n');
      await refused;
    }
    const added = response.listenerCount('close') - before;
    service.release();
    assert.equal(added, 1);
    const answers = parseRawAnswers(await connection.untilClosed());
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 400],
    );
  });
});

describe('a request that is refused while its caller is being looked up', () => {
  it('has no effect', async (t) => {
    const caller = Promise.withResolvers<{ user: string }>();
    const service = await startService(t, { authenticate: () => caller.promise });
    await service.store.createPlant('ada', { id: 1, name: 'Fern' });
    const connection = await RawConnection.open(
      t,
      service.port,
      `DELETE /plants/1 HTTP/1.1\r\n${head}${chunked}zz\r\n`,
    );
    assert.equal(parseRawAnswer(await connection.untilClosed()).error, 40009);
    caller.resolve({ user: 'ada' });
    await sleep(20);
    assert.deepEqual(await service.store.listPlants('ada'), [{ id: 1n, name: 'Fern' }]);
    assert.deepEqual(service.faults, []);
  });
});

describe('a client that ends its side of the connection', () => {
  it('receives the response to a request that is in progress', async (t) => {
    const caller = Promise.withResolvers<{ user: string }>();
    const service = await startService(t, { authenticate: () => caller.promise });
    const [connection, socket] = await openAccepted(t, service);
    const ended = once(socket, 'end');
    connection.send(post(ivy));
    connection.socket.end();
    await ended;
    caller.resolve({ user: 'ada' });
    assert.match(await connection.untilClosed(), /^HTTP\/1\.1 200 OK[^]*"Ivy"\}$/);
  });
});

describe('Expect: 100-continue', () => {
  it('causes 100 Continue after the response to an earlier request and before the body is read', async (t) => {
    const { port } = await startService(t);
    const connection = await RawConnection.open(t, port, listRequest + askToCreate);
    await connection.until(/^HTTP\/1\.1 200 OK[^]*\[\]HTTP\/1\.1 100 Continue\r\n\r\n$/);
    connection.send(ivy);
    assert.match(await connection.until(/\}$/), /100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
  });

  it('causes 100 Continue even if the body has been sent, so that node:http keeps the connection open', async (t) => {
    const { port } = await startService(t);
    const received = (await RawConnection.open(t, port, ask(post(ivy)))).until(/\}$/);
    assert.match(await received, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP[^]*\r\nConnection: keep-alive\r\n/);
  });
});

describe('CONNECT', () => {
  for (const [what, earlier] of [
    ['its client resets the connection', ''],
    ['the connection is already being closed', upgradeRequest],
  ] as const) {
    it(`does not end the process when ${what}`, async (t) => {
      const { server, port } = await startService(t);
      for (let n = 0; n < 5; n++) {
        const received = once(server, 'connect');
        const connection = await RawConnection.open(t, port, earlier);
        if (earlier !== '') await connection.until(/\}$/);
        connection.send(connectRequest);
        await received;
        connection.send('more');
        connection.socket.resetAndDestroy();
      }
      await eventuallyEqual(() => countConnections(server), 0);
      await (await RawConnection.open(t, port, listRequest)).until(/\[\]$/);
    });
  }

  it('closes the connection if the response to an earlier request is still pending', async (t) => {
    const { server, store, port, faults, release, committing } = await startHeldService(t);
    const connection = await RawConnection.open(t, port, createRequest(1));
    await committing;
    connection.send(connectRequest);
    assert.equal(await connection.untilClosed(), '');
    release();
    await eventuallyEqual(async () => (await store.listPlants('ada')).length, 1);
    assert.equal(await countConnections(server), 0);
    assert.deepEqual(faults, []);
  });
});
