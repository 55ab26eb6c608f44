import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
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
import { begin, createRequest, get, head, lastList, listRequest } from '../../support/raw-http.ts';
import { openAccepted, parseRawAnswers, post, RawConnection } from '../../support/raw-http.ts';
import type { RawAnswer } from '../../support/raw-http.ts';
import { startHeldService, startService } from '../../support/service.ts';
import { createLongList } from '../../support/stored-plants.ts';
import { CleanUp } from '../../support/temporary-folder.ts';

const ivy = '{"id":2,"name":"Ivy"}';
const beginning = post(ivy.slice(0, -1), ivy.length);
const start = 'POST /plants HTTP/1.1\r\n';
/** The request line and the headers of a POST request of ada. The body must follow in chunks. */
const chunkedPost = `${start}${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
const posted = `Content-Type: application/json\r\nContent-Length: ${ivy.length}\r\n\r\n${ivy}`;
const chunked = `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n15\r\n${ivy}\r\n0\r\n\r\n`;
const withoutToken = 'POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab';

interface More {
  /** Whether the client is too slow for the limits of the server. */
  readonly timesOut?: boolean;
  /** Whether the client ends its side of the connection. */
  readonly ends?: boolean;
  readonly sendsAfterResponse?: string;
  /** The names of ada's plants afterwards; by default, those from before. */
  readonly stored?: readonly string[];
}

/** `receives` contains a number for each response: the integer of its Error body, or else the status. */
const cases: readonly (readonly [what: string, sends: string, receives: readonly number[], more?: More])[] = [
  // Recipients could interpret these requests differently.
  ['two Hosts', `${start}Host: x\r\n${head}${posted}`, [40009]],
  ['HTTP/2.0', `POST /plants HTTP/2.0\r\n${head}${posted}`, [40009]],
  ['a transfer coding in HTTP/1.0', `POST /plants HTTP/1.0\r\n${head}${chunked}`, [40009]],
  ['an unknown transfer coding', start + head + chunked.replace('chunked', 'gzip, chunked'), [40009]],
  ['a NUL in a header', `${start}${head}X: a\0b\r\n${posted}`, [40009]],
  ['input that is not HTTP', 'garbage\r\n\r\n', [40009]],
  ['a header that is too large', get('/plants', `X: ${'x'.repeat(20_000)}\r\n`), [43100]],
  ['129 fields', get('/plants', 'X: y\r\n'.repeat(127)), [43100]],
  ['128 fields', get('/plants', `${'X: y\r\n'.repeat(125)}Connection: close\r\n`), [200]],
  ['a header that times out', 'GET /pla', [40800], { timesOut: true }],
  ['a body that times out', beginning, [40800], { timesOut: true, sendsAfterResponse: '}' }],
  ['a body that ends too early', beginning, [40009], { ends: true }],
  ['a chunked body that is not HTTP', `${chunkedPost}15\r\n${ivy}\r\nzz\r\n`, [40009]],
  ['a request, then other input', `${createRequest(2)}garbage\r\n\r\n`, [200, 40009], { stored: ['Fern', 'plant 2'] }],
  ['a list, then other input', listRequest, [200, 40009], { sendsAfterResponse: 'garbage\r\n\r\n' }],
  ['a large chunk', `${chunkedPost}10001\r\n${'x'.repeat(65_537)}\r\n0\r\n\r\n${lastList}`, [40008]],
  ['no token, and a late body', withoutToken, [40101], { sendsAfterResponse: `cde${lastList}` }],
  ['no token, and no last chunk', `${chunkedPost.replace('Authorization', 'X')}1\r\nx\r\n0\r\nX: y\r\n`, [40101]],
  ['no token, and Expect', withoutToken.replace('\r\n\r\nab', '\r\nExpect: 100-continue\r\n\r\n'), [100, 40101]],
];

/** If a request was malformed, too large or too slow, asserts that the OpenAPI document describes the response. */
function assertEarlyErrorDescribed({ status, head: headers, json, error = 0 }: RawAnswer): void {
  if (![40009, 40800, 43100].includes(error)) return;
  const pairs = Array.from(headers.matchAll(/^(\S+): (.*)$/gm), ([, name = '', value = '']) => [name, value] as const);
  assertDescribed('GET', '/plants', { status, headers: new Headers(pairs as never), text: JSON.stringify(json) });
}

it('a connection gets its responses, is closed, and releases its permit after unusual or malformed input', async (t) => {
  const check = async ([what, sends, receives, more = {}]: (typeof cases)[number]): Promise<void> => {
    const { server, store, port, call, faults } = await startService(t, { maxInFlight: 1 });
    // `createPlantServer` makes node:http check these limits once a second.
    if (more.timesOut) Object.assign(server, { headersTimeout: 100, requestTimeout: 100 });
    await store.createPlant('ada', { id: 1, name: 'Fern' });
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    // The client does not end its side because the server has ended.
    const connection = new RawConnection(connect({ port, host: '127.0.0.1', allowHalfOpen: true }));
    t.after(() => void connection.socket.destroy());
    connection.send(sends);
    if (more.ends) connection.socket.end();
    const [socket] = await accepted;
    // Its timeout would close the connection after a minute.
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
    assert.match(answers.at(-1)?.head ?? '', /^Connection: close\r?$/m, what);
    answers.forEach(assertEarlyErrorDescribed);
    // This request needs the only permit.
    await eventuallyEqual(async () => namesIn(await call('GET', '/plants')), more.stored ?? ['Fern']);
    assert.deepEqual(faults, []);
  };
  await Promise.all(cases.map(check));
});

it('a response reaches a client that first sends its whole request, even if the server does not read it', async (t) => {
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

it('input that is not HTTP does not affect the response to a request in progress', async (t) => {
  const service = await startHeldService(t);
  const [connection, socket] = await openAccepted(t, service);
  connection.send(createRequest(1));
  await service.held.begun;
  connection.send('garbage\r\n\r\n');
  await eventuallyEqual(() => socket.isPaused(), true);
  service.held.release();
  assert.equal(parseRawAnswers(await connection.untilClosed())[0]?.status, 200);
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

it('a request has no effect if its connection is refused while its caller is being looked up', async (t) => {
  const caller = Promise.withResolvers<{ user: string }>();
  const { port, store, faults } = await startService(t, { authenticate: () => caller.promise });
  const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
  await store.createPlant('ada', { id: 1, name: 'Fern' });
  const text = `DELETE /plants/1 HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`;
  const connection = await RawConnection.open(t, port, text);
  assert.equal(parseRawAnswers(await connection.untilClosed())[0]?.error, 40009);
  caller.resolve({ user: 'ada' });
  await eventuallyEqual(() => messages.map(({ status }) => status), [499]);
  assert.deepEqual([await store.listPlants('ada'), faults], [[{ id: 1n, name: 'Fern' }], []]);
});

it('a request gets its response although the client has ended its side of the connection', async (t) => {
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

/** No client has the token of this plant's user. */
const secret = { id: 1n, name: 'nobody-may-see-this' };

const requests = [
  ...[listRequest, get('/plants?limit=1'), get('/openapi.json'), createRequest(7), post('{"id":'), post('', 9)],
  `DELETE /plants/7 HTTP/1.1\r\n${head}\r\n`,
  `HEAD /plants HTTP/1.1\r\n${head}\r\n`,
  `POST /plants HTTP/1.1\r\n${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\n0\r\n\r\n`,
];
const lines = [
  ...['Host: y', 'Authorization: Bearer eve', 'Content-Length: 5', 'Content-Length: +5', 'Content-Length: 5, 5'],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding : chunked'],
  ...['Expect: 100-continue', 'Connection: close', 'Upgrade: h2c', ' folded: x', 'X: \0', 'X: a\rb', 'no colon'],
  `X: ${'x'.repeat(17_000)}`,
].map((line) => `${line}\r\n`);
const texts = ['\r\n', '\n', '\r', '\0', ' ', ':', '\xff', '\r\n\r\n', '0\r\n\r\n', '1;x\r\ny\r\n', 'HTTP/1.0'];

/** Replaces bytes at any place, or inserts text at the start of a line. */
const mutation = fc.record({
  place: fc.nat(999),
  isAtLine: fc.boolean(),
  count: fc.oneof(fc.constantFrom(0, 1, Infinity), fc.nat(40)),
  text: fc.oneof(fc.constantFrom('', ...lines, ...texts), fc.string({ unit: 'binary-ascii', maxLength: 3 })),
});
type Mutation = typeof mutation extends fc.Arbitrary<infer T> ? T : never;

function mutate(bytes: string, { place, isAtLine, count, text }: Mutation): string {
  const within = Math.floor((place / 1000) * bytes.length);
  const at = isAtLine ? bytes.indexOf('\n', within) + 1 : within;
  return bytes.slice(0, at) + text + bytes.slice(at + (isAtLine ? 0 : count));
}

const malformed = fc
  .tuple(fc.array(fc.constantFrom(...requests), { minLength: 1, maxLength: 4 }), fc.array(mutation, { maxLength: 3 }))
  .map(([all, mutations]) => mutations.reduce(mutate, all.join('')));

it('malformed HTTP causes no 5xx, shows no plants of others, and its connection is closed', async (t) => {
  const { server, port, store, faults } = await startService(t);
  // With these settings, the server closes a connection only because its client has ended it.
  Object.assign(server, { headersTimeout: 0, requestTimeout: 0 });
  await store.createPlant('zoe', secret);
  const property = fc.asyncProperty(malformed, async (bytes) => {
    await using cleanUp = new CleanUp();
    const connection = await RawConnection.open(cleanUp, port, bytes);
    connection.socket.end();
    const received = await connection.untilClosed();
    assert.ok(!received.includes(secret.name), received);
    assert.doesNotMatch(received, /HTTP\/1\.1 5/);
    assert.deepEqual(faults, []);
  });
  await fc.assert(property, { numRuns: 300 });
  await eventuallyEqual(() => openConnections(server).size, 0);
  assert.deepEqual(await store.listPlants('zoe'), [secret]);
});
