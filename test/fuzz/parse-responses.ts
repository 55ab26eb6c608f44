import assert from 'node:assert/strict';

/** A final response. */
export interface ParsedResponse {
  readonly status: number;
  /** The header fields, by their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** The bytes of the body, as latin1. */
  readonly body: string;
  /** How many interim responses (100 Continue) precede it. */
  readonly interims: number;
  /** Whether its Connection header announces the end of the connection. */
  readonly isLast: boolean;
}

/** The bytes that a server sent on one connection. */
export interface ResponseStream {
  readonly responses: readonly ParsedResponse[];
  /** The bytes after the last complete response. */
  readonly rest: string;
}

/**
 * Parses responses strictly: every deviation from RFC 9112 is an error. `isHead(n)` tells whether
 * request `n` was a HEAD; `hasEnded` tells whether the server has ended the connection.
 */
export function parseResponses(text: string, isHead: (n: number) => boolean, hasEnded: boolean): ResponseStream {
  const responses: ParsedResponse[] = [];
  let interims = 0;
  let at = 0;
  while (at < text.length) {
    const start = text.slice(at, at + 60);
    assert.ok('HTTP/1.1 '.startsWith(start.slice(0, 9)), `not a response: ${JSON.stringify(start)}`);
    const headEnd = text.indexOf('\r\n\r\n', at);
    if (headEnd === -1) break;
    const { status, headers } = parseHead(text.slice(at, headEnd));
    if (status < 200) {
      assert.ok(status === 100 && headers.size === 0, `interim response ${status}`);
      interims++;
      at = headEnd + 4;
      continue;
    }
    const isLast = headers.get('connection') === 'close';
    const length = isHead(responses.length) ? 0 : lengthOf(headers, status);
    const body = bodyAt(text, headEnd + 4, length, isLast && hasEnded);
    if (body === undefined) break;
    responses.push({ status, headers, body: body.content, interims, isLast });
    interims = 0;
    at = body.end;
  }
  return { responses, rest: text.slice(at) };
}

function parseHead(head: string): Pick<ParsedResponse, 'status' | 'headers'> {
  const [line = '', ...lines] = head.split('\r\n');
  const status = /^HTTP\/1\.1 ([1-5]\d\d) [\t\x20-\x7e]*$/.exec(line)?.[1];
  assert.ok(status !== undefined, `malformed status line ${JSON.stringify(line)}`);
  const headers = new Map<string, string>();
  for (const text of lines) {
    const [, name = '', value = ''] = /^([A-Za-z-]+): ([\t\x20-\x7e\x80-\xff]+)$/.exec(text) ?? [];
    assert.ok(name !== '', `malformed header line ${JSON.stringify(text)}`);
    assert.ok(!headers.has(name.toLowerCase()), `a response with two ${name} fields`);
    headers.set(name.toLowerCase(), value);
  }
  return { status: Number(status), headers };
}

/** Returns the length of the body, which must be specified in exactly one way. */
function lengthOf(headers: ParsedResponse['headers'], status: number): number | 'chunked' | 'to the end' {
  const [length, coding] = [headers.get('content-length'), headers.get('transfer-encoding')];
  const isOne = length === undefined || coding === undefined;
  assert.ok(isOne && (status !== 204 || length === coding), `${status} with length ${length} and coding ${coding}`);
  assert.ok(coding === undefined || coding === 'chunked', `a response with the transfer coding ${coding}`);
  assert.ok(length === undefined || /^\d+$/.test(length), `a response with Content-Length ${length}`);
  if (status === 204) return 0;
  return length === undefined ? (coding ?? 'to the end') : Number(length);
}

/** Returns the body that starts at `start`, and where it ends; `undefined` if it is incomplete. */
function bodyAt(
  text: string,
  start: number,
  length: ReturnType<typeof lengthOf>,
  hasEnded: boolean,
): { content: string; end: number } | undefined {
  if (length === 'chunked') return chunksAt(text, start);
  if (length === 'to the end') return hasEnded ? { content: text.slice(start), end: text.length } : undefined;
  const end = start + length;
  return end > text.length ? undefined : { content: text.slice(start, end), end };
}

function chunksAt(text: string, start: number): { content: string; end: number } | undefined {
  let content = '';
  for (let at = start; ;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const line = text.slice(at, lineEnd);
    assert.ok(/^[\da-f]+$/.test(line), `malformed chunk ${JSON.stringify(line)}`);
    const end = lineEnd + 2 + parseInt(line, 16);
    if (text.length < end + 2) return undefined;
    assert.ok(text.startsWith('\r\n', end), `a chunk is longer than ${line}`);
    const chunk = text.slice(lineEnd + 2, end);
    content += chunk;
    at = end + 2;
    if (chunk === '') return { content, end: at };
  }
}
