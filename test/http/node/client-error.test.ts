import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { RequestMessage } from '../../../src/http.ts';
import { openConnections } from '../../../src/http/node/connections.ts';
import { namesIn } from '../../support/call.ts';
import { assertDescribed } from '../../support/described.ts';
import { eventuallyEqual } from '../../support/eventually.ts';
import { messagesOf } from '../../support/messages.ts';
import { begin, createRequest, exchange, get, head, lastList, listRequest } from '../../support/raw-http.ts';
import { openAccepted, parseRawAnswers, post, RawConnection } from '../../support/raw-http.ts';
import { startService } from '../../support/service.ts';
import { createLongList } from '../../support/stored-plants.ts';
import { CleanUp } from '../../support/temporary-folder.ts';

const ivy = '{"id":2,"name":"Ivy"}';
const beginning = post(ivy.slice(0, -1), ivy.length);
/** A POST request of ada without its chunks. */
const chunkedPost = post('').replace('Content-Length: 0', 'Transfer-Encoding: chunked');
const chunked = `${chunkedPost}15\r\n${ivy}\r\n0\r\n\r\n`;
/** The request line and the headers that every DELETE request of ada needs. */
const deletion = `DELETE /plants/2 HTTP/1.1\r\n${head}`;
const withoutToken = post('ab', 5).replace('Authorization', 'X');

interface More {
  /** Whether the client is too slow for the limits of the server. */
  readonly timesOut?: boolean;
  /** Whether the client ends its side of the connection. */
  readonly ends?: boolean;
  readonly sendsAfterResponse?: string;
}

/** `receives` contains a number for each response: the integer of its Error body, or else the status. */
const cases: readonly (readonly [what: string, sends: string, receives: readonly number[], more?: More])[] = [
  // Recipients could interpret these requests differently.
  ['two Hosts', post(ivy).replace('Host', 'Host: x\r\nHost'), [40009]],
  ['HTTP/2.0', post(ivy).replace('HTTP/1.1', 'HTTP/2.0'), [40009]],
  ['a transfer coding in HTTP/1.0', chunked.replace('HTTP/1.1', 'HTTP/1.0'), [40009]],
  ['an unknown transfer coding', chunked.replace('chunked', 'gzip, chunked'), [40009]],
  ['a NUL in a header', post(ivy).replace('Host', 'X: a\0b\r\nHost'), [40009]],
  ['input that is not HTTP', 'garbage\r\n\r\n', [40009]],
  ['a header that is too large', get('/plants', `X: ${'x'.repeat(20_000)}\r\n`), [43100]],
  ['129 fields', get('/plants', 'X: y\r\n'.repeat(127)), [43100]],
  ['128 fields', get('/plants', `${'X: y\r\n'.repeat(125)}Connection: close\r\n`), [200]],
  ['a header that times out', 'GET /pla', [40800], { timesOut: true }],
  ['a body that times out', beginning, [40800], { timesOut: true, sendsAfterResponse: '}' }],
  ['a body that ends too early', beginning, [40009], { ends: true }],
  ['a chunked body that is not HTTP', chunked.replace(/0\r\n\r\n$/, 'zz\r\n'), [40009]],
  ['a request, then other input', `${createRequest(1)}garbage\r\n\r\n`, [40003, 40009]],
  ['a list, then other input', listRequest, [200, 40009], { sendsAfterResponse: 'garbage\r\n\r\n' }],
  ['a large chunk', `${chunkedPost}10001\r\n${'x'.repeat(65_537)}\r\n0\r\n\r\n${lastList}`, [40008]],
  ['no token, and a late body', withoutToken, [40101], { sendsAfterResponse: `cde${lastList}` }],
  ['no token, and no last chunk', `${chunkedPost.replace('Authorization', 'X')}1\r\nx\r\n0\r\nX: y\r\n`, [40101]],
  ['no token, and Expect', withoutToken.replace('\r\n\r\nab', '\r\nExpect: 100-continue\r\n\r\n'), [100, 40101]],
];

it('a connection with unusual or malformed input receives its responses, and is then closed', async (t) => {
  const check = async ([what, sends, receives, more = {}]: (typeof cases)[number]): Promise<void> => {
    const { server, store, port, call, faults } = await startService(t, { maxInFlight: 1 });
    // `createPlantServer` makes node:http check these limits once a second.
    if (more.timesOut) Object.assign(server, { headersTimeout: 100, requestTimeout: 100 });
    await store.createPlant('ada', { id: 1, name: 'Fern' });
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const connection = await RawConnection.open(t, port, sends, true);
    if (more.ends) connection.socket.end();
    const [socket] = await accepted;
    // The timeout of the server would close the connection only after a minute.
    const closed = once(socket, 'close', { signal: AbortSignal.timeout(30_000) });
    if (more.sendsAfterResponse !== undefined) {
      await connection.until(/[}\]]$/);
      connection.send(more.sendsAfterResponse);
    }
    await closed;
    connection.socket.end();
    const answers = parseRawAnswers(await connection.untilClosed());
    const received = answers.map(({ status, error }) => error ?? status);
    assert.deepEqual(received, receives, what);
    assert.equal(answers.at(-1)?.headers.get('connection'), 'close', what);
    const early = answers.filter(({ error = 0 }) => [40009, 40800, 43100].includes(error));
    for (const answer of early) assertDescribed('GET', '/plants', answer);
    // This request needs the only permit.
    await eventuallyEqual(async () => namesIn(await call('GET', '/plants')), ['Fern']);
    assert.deepEqual(faults, []);
  };
  await Promise.all(cases.map(check));
});

it('a client receives an early response even if it sends its whole request before it reads', async (t) => {
  for (const { text, status } of [
    { text: post('', 8_000_000).replace('Authorization', 'X'), status: 401 },
    { text: `GET /plants HTTP/1.1\r\n${head}X: `, status: 431 },
  ]) {
    const [connection, socket] = await openAccepted(t, await startService(t));
    connection.socket.pause();
    connection.send(text + 'x'.repeat(65_536));
    await eventuallyEqual(() => socket.bytesWritten > 0, true);
    // This data arrives after the response has been sent.
    connection.send('x'.repeat(1_000_000));
    await sleep(20);
    connection.socket.resume();
    assert.equal(parseRawAnswers(await connection.until(/\}$/))[0]?.status, status);
    assert.ok(socket.listenerCount('error') < 5, 'there is not one listener for each read');
  }
});

it('input that is not HTTP does not add an error response to a list that is being sent', async (t) => {
  const service = await startService(t);
  await createLongList(service.store);
  const text = listRequest.replace('\r\n\r\n', '\r\nTransfer-Encoding: chunked\r\n\r\n');
  const { connection, response } = await begin(t, service, text, { isPaused: true });
  await eventuallyEqual(() => response.headersSent, true);
  connection.send('zz\r\n');
  connection.socket.resume();
  const received = await connection.untilClosed();
  assert.deepEqual([received.split('HTTP/1.1 ').length - 1, received.slice(-8)], [1, ']\r\n0\r\n\r\n']);
});

it('a request that waits for authenticate completes, unless its body is malformed', async (t) => {
  const caller = Promise.withResolvers<{ user: string }>();
  const service = await startService(t, { authenticate: () => caller.promise });
  const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
  await service.store.createPlant('ada', { id: 2, name: 'Fern' });
  const refused = await exchange(t, service.port, `${deletion}Transfer-Encoding: chunked\r\n\r\nzz\r\n`);
  assert.equal(parseRawAnswers(refused)[0]?.error, 40009);
  const ending = await begin(t, service, createRequest(3));
  ending.connection.socket.end();
  await eventuallyEqual(() => ending.response.socket?.readableEnded, true);
  const following = await begin(t, service, createRequest(4));
  following.connection.send('garbage\r\n\r\n');
  await eventuallyEqual(() => following.response.socket?.isPaused(), true);
  caller.resolve({ user: 'ada' });
  for (const { connection } of [ending, following]) {
    assert.match(await connection.untilClosed(), /^HTTP\/1\.1 200 OK[^]*"plant \d"\}$/);
  }
  await eventuallyEqual(() => messages.map(({ status }) => status).sort(), [200, 200, 499]);
  assert.deepEqual(namesIn(await service.call('GET', '/plants')), ['Fern', 'plant 3', 'plant 4']);
  assert.deepEqual(service.faults, []);
});

const lines = [
  ...['Host: y', 'Authorization: Bearer eve', 'Content-Length: 5', 'Content-Length: +5', 'Content-Length: 5, 5'],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding : chunked'],
  ...['Expect: 100-continue', 'Connection: close', 'Upgrade: h2c', ' folded: x', 'X: \0', 'X: a\rb', 'no colon'],
  ...[`X: ${'x'.repeat(17_000)}`, '', '0\r\n', '1;x\r\ny', '5\r\n{"id"'],
].map((line) => `${line}\r\n`);
/** Requests, parts of requests, and what makes them malformed. */
const pieces = [
  ...[listRequest, get('/plants?limit=1'), get('/openapi.json'), createRequest(7), post('{"id":'), post('', 9)],
  ...['GET /plants', 'HEAD /plants'].map((line) => `${line} HTTP/1.1\r\n${head}`),
  ...[deletion, chunkedPost.slice(0, -2), ...lines, '\n', '\r', '\0', ' ', ':', '\xff', 'HTTP/1.0'],
];
const malformed = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 12 });

it('malformed HTTP causes no 5xx, and its connection is closed', async (t) => {
  const { server, port, faults } = await startService(t);
  // With these settings, the server closes a connection only because its client has ended it.
  Object.assign(server, { headersTimeout: 0, requestTimeout: 0 });
  const property = fc.asyncProperty(malformed, async (input) => {
    await using cleanUp = new CleanUp();
    const connection = await RawConnection.open(cleanUp, port, input.join(''));
    connection.socket.end();
    assert.doesNotMatch(await connection.untilClosed(), /HTTP\/1\.1 5/);
    assert.deepEqual(faults, []);
  });
  await fc.assert(property, { numRuns: 300 });
  await eventuallyEqual(() => openConnections(server).size, 0);
});
