import fc from 'fast-check';
import { requestWith } from './requests.ts';
import type { SentRequest } from './requests.ts';

const lines = [
  ...['Host: y', 'Authorization: Bearer x', 'Content-Length: 5', 'Content-Length: +5', 'Content-Length: 5, 5'],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding : chunked'],
  ...['Expect: 100-continue', 'Connection: close', 'Upgrade: h2c', ' folded: x', 'X: \0', 'X: a\rb', 'no colon'],
  `X: ${'x'.repeat(17_000)}`,
].map((line) => `${line}\r\n`);
const texts = ['\r\n', '\n', '\r', '\0', ' ', ':', '\xff', '\r\n\r\n', '0\r\n\r\n', '1;x\r\ny\r\n', 'HTTP/1.0', 'G'];

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

function bytesOf({ method, target, headers, body = '' }: SentRequest): string {
  const all = [['Host', 'x'], ...Object.entries(headers), ...(body === '' ? [] : [['Content-Length', body.length]])];
  const head = [`${method} ${target} HTTP/1.1`, ...all.map((header) => header.join(': '))];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** Generates the bytes of several requests, as latin1, with mutations. */
export function malformedWith(tokens: readonly string[]): fc.Arbitrary<string> {
  const requests = fc.array(requestWith(tokens), { minLength: 1, maxLength: 4 });
  return fc
    .tuple(requests, fc.array(mutation, { maxLength: 3 }))
    .map(([all, mutations]) => mutations.reduce(mutate, all.map(bytesOf).join('')));
}
