import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { eventuallyEqual } from '../../support/eventually.ts';
import { createRequest, get, head, listRequest, post, RawConnection } from '../../support/raw-http.ts';
import { countConnections, startService } from '../../support/service.ts';
import { CleanUp } from '../../support/temporary-folder.ts';

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
const texts = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  ':',
  '\xff',
  '\r\n\r\n',
  '0\r\n\r\n',
  '1;x\r\ny\r\n',
  'HTTP/1.0',
  'G',
  '%00',
];

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
  await eventuallyEqual(() => countConnections(server), 0);
  assert.deepEqual(await store.listPlants('zoe'), [secret]);
});
