import fc from 'fast-check';

const tokens = ['ada', 'ada', 'ada', 'bob', 'bob', 'cyn', 'ada-reads', 'ada-writes', 'dan-reads'];
const oddCredentials = [
  'Bearer',
  'Bearer ',
  'Bearer eve',
  'Bearer nobody',
  'Bearer ada,bob',
  'Bearer ada bob',
  'Bearer "ada"',
  'Bearer ada=',
  'Bearer =',
  'Basic YWRhOg==',
  'bearer ada',
  'BEARER   ada',
  'Bearer\tada',
  'ada',
  '',
  'Bearers ada',
  'Bearer \xe4da',
  `Bearer ${'x'.repeat(9000)}`,
  'Bearer ada\0',
  'Bearer ada, Bearer bob',
];

/** A header line with credentials, usually valid ones. */
export const goodCredentials: fc.Arbitrary<string> = fc
  .constantFrom(...tokens)
  .map((token) => `Authorization: Bearer ${token}`);

const oddMedia = [
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
  'APPLICATION/JSON',
  'application/json; charset=latin1',
  'application/json; charset=utf-16',
  'application/json;',
  'application/json; x=y; charset=utf-8',
  'text/plain',
  'application/jsonp',
  'application/json, text/plain',
  '',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json;charset=',
  'application/json; charset=utf-8; charset=latin1',
  'application/merge-patch+json',
  ` application/json\t`,
  `application/json;${' '.repeat(6000)}x`,
];

/** Lines that are added to those of a correct request, or replace the line with the same name. */
export const oddLine: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...oddCredentials).map((credentials) => `Authorization: ${credentials}`),
  goodCredentials,
  fc.constantFrom(...oddMedia).map((type) => `Content-Type: ${type}`),
  fc
    .constantFrom('x', '', 'x:80', 'x:y', 'a b', 'a,b', 'x/plants', '[::1]', 'user@x', '\xff')
    .map((host) => `Host: ${host}`),
  fc
    .constantFrom(
      '0',
      '1',
      '5',
      '+5',
      '-5',
      ' 5',
      '5 ',
      '5, 5',
      '5,6',
      '5;x',
      '0x5',
      '5.0',
      '5e1',
      '',
      '007',
      '65536',
      '65537',
      '70000',
      '1200000',
      '99999999999',
      '18446744073709551615',
      '18446744073709551616',
      '99999999999999999999999999',
      '٣',
      '\xb2',
    )
    .map((length) => `Content-Length: ${length.replace('٣', '\xd9\xa3')}`),
  fc
    .constantFrom(
      'chunked',
      'Chunked',
      ' chunked',
      'gzip, chunked',
      'chunked, gzip',
      'chunked, chunked',
      'identity',
      'gzip',
      'xchunked',
      'chunked;x=y',
      '"chunked"',
      '',
      ',chunked',
      'chunked,',
      '\x0bchunked',
      'trailers',
    )
    .map((coding) => `Transfer-Encoding: ${coding}`),
  fc
    .constantFrom(
      'close',
      'keep-alive',
      'Close',
      'close, keep-alive',
      'keep-alive, close',
      'upgrade',
      'TE',
      '',
      'close,',
      'content-length',
      'authorization',
      '"close"',
      'x',
      'HTTP2-Settings, upgrade',
    )
    .map((option) => `Connection: ${option}`),
  fc.constantFrom(
    'Expect: 100-continue',
    'Expect: 100-Continue',
    'Expect: 200-ok',
    'Expect:',
    'Expect: 100-continue, x',
  ),
  fc.constantFrom('Upgrade: websocket', 'Upgrade: h2c', 'Upgrade: TLS/1.0', 'HTTP2-Settings: AAMAAABk'),
  fc.constantFrom(
    'Content-Encoding: gzip',
    'Content-Encoding: identity',
    'Content-Encoding:',
    'Content-Encoding: GZIP',
    'TE: trailers',
    'Trailer: Content-Length',
    'Keep-Alive: timeout=0, max=0',
    'Max-Forwards: 0',
    'X-HTTP-Method-Override: DELETE',
    'Range: bytes=0-1',
    'If-None-Match: *',
    'Accept: text/html',
    'Accept-Encoding: gzip',
    'Cookie: a=b',
    '__proto__: x',
    'constructor: y',
    'Content-Length_: 5',
    'Transfer_Encoding: chunked',
  ),
  fc.constantFrom(
    'no colon',
    ': x',
    'X : y',
    'Content-Length : 5',
    'Transfer-Encoding : chunked',
    ' folded: x',
    '\tfolded',
    'X:\0',
    'X: a\0b',
    'X: \x01',
    'X\xff: y',
    'X: \xff\xfe',
    'X\x0b: y',
    'X: a\rb',
    'X: a\nContent-Length: 5',
    'X: a\r\n y',
    'X(y): z',
    'X:',
    '\r',
    '\n',
    '"X": y',
    'X: a\x7f',
  ),
  fc.constantFrom(100, 5000, 13_500, 16_300, 17_000, 30_000).map((length) => `X: ${'x'.repeat(length)}`),
  fc.constantFrom(90, 124, 125, 126, 1000, 3000).map((count) => Array.from({ length: count }, () => 'a:').join('\r\n')),
);

const extensionTexts = [
  '',
  '',
  '',
  '',
  ';x',
  ';x=y',
  ';x="y z"',
  ' ;x',
  ';',
  ';x=\xff',
  ' ',
  '\t',
  'x',
  ',',
  ';x\n',
  `;${'x'.repeat(500)}`,
  `;${'x'.repeat(17_000)}`,
];
const sizeTexts = [
  '',
  '',
  '',
  '',
  '',
  '0',
  '0000',
  '00000000000000000000',
  'G',
  '-',
  '+',
  '0x',
  ' ',
  '10000000000000000',
  'ffffffffffffffff',
  '8000000000000000',
];
const trailerTexts = [
  '',
  '',
  '',
  '',
  '',
  'X: y\r\n',
  'Content-Length: 5\r\n',
  'Authorization: Bearer bob\r\n',
  'Host: y\r\n',
  'X : y\r\n',
  'X: \0\r\n',
  ' x\r\n',
  'no colon\r\n',
  `X: ${'x'.repeat(17_000)}\r\n`,
  '\n',
  'X: y\n',
];

/** Ways to split a body into chunks, usually correctly. */
export const chunkedBy: fc.Arbitrary<(body: string) => string> = fc
  .record({
    size: fc.constantFrom(1, 3, 10, 1000, 100_000),
    extension: fc.constantFrom(...extensionTexts),
    prefix: fc.constantFrom(...sizeTexts),
    isUpper: fc.boolean(),
    end: fc.constantFrom('\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', 'x\r\n', ''),
    last: fc.constantFrom('0', '0', '0', '0', '000', '0;x', '', '-0', '00000000000000000'),
    trailers: fc.constantFrom(...trailerTexts),
  })
  .map(({ size, extension, prefix, isUpper, end, last, trailers }) => (body) => {
    const parts = body.match(new RegExp(`[^]{1,${Math.max(size, Math.ceil(body.length / 50))}}`, 'g')) ?? [];
    const chunks = parts.map((part, n) => {
      const digits = part.length.toString(16);
      // At most one chunk is wrong.
      const isOdd = n === parts.length - 1;
      const size = isUpper ? digits.toUpperCase() : digits;
      return isOdd ? `${prefix}${size}${extension}\r\n${part}${end}` : `${size}\r\n${part}\r\n`;
    });
    return `${chunks.join('')}${last}\r\n${trailers}\r\n`;
  });
