import assert from 'node:assert/strict';

/** A final response. */
export interface ParsedResponse {
  readonly status: number;
  /** The header fields, by lowercase name. */
  readonly headers: ReadonlyMap<string, string>;
  /** The bytes of the body, as latin1. */
  readonly body: string;
  /** Whether the response's Connection header announces that the connection will be closed. */
  readonly isLast: boolean;
}

/**
 * Parses responses strictly: throws an error for every deviation from RFC 9112. `isHead(n)` returns whether request `n`
 * was a HEAD request. Returns the complete responses, and the bytes that follow them.
 */
export function parseResponses(
  text: string,
  isHead: (n: number) => boolean,
): { responses: ParsedResponse[]; rest: string } {
  const responses: ParsedResponse[] = [];
  let at = 0;
  for (let headEnd = text.indexOf('\r\n\r\n'); headEnd !== -1; headEnd = text.indexOf('\r\n\r\n', at)) {
    const { status, headers } = parseHead(text.slice(at, headEnd));
    if (status === 100) {
      at = headEnd + 4;
      continue;
    }
    const isBodiless = status === 204 || isHead(responses.length);
    const body = isBodiless ? { content: '', end: headEnd + 4 } : bodyAt(text, headEnd + 4, headers);
    if (body === undefined) break;
    responses.push({ status, headers, body: body.content, isLast: headers.get('connection') === 'close' });
    at = body.end;
  }
  return { responses, rest: text.slice(at) };
}

function parseHead(head: string): Pick<ParsedResponse, 'status' | 'headers'> {
  const [line = '', ...lines] = head.split('\r\n');
  const status = Number(/^HTTP\/1\.1 (100|[2-5]\d\d) [\t\x20-\x7e]*$/.exec(line)?.[1]);
  assert.ok(status > 0, `malformed status line ${JSON.stringify(line)}`);
  const headers = new Map<string, string>();
  for (const text of lines) {
    const [, name = '', value = ''] = /^([A-Za-z-]+): ([\t\x20-\x7e\x80-\xff]+)$/.exec(text) ?? [];
    assert.ok(name !== '' && !headers.has(name.toLowerCase()), `malformed or repeated header ${JSON.stringify(text)}`);
    headers.set(name.toLowerCase(), value);
  }
  const lengths = ['content-length', 'transfer-encoding'].filter((name) => headers.has(name));
  assert.ok(lengths.length <= (status === 204 ? 0 : 1), `${status} with ${lengths.join()}`);
  return { status, headers };
}

/** Returns the body that starts at `start`, with the position of its end; `undefined` if the body is incomplete. */
function bodyAt(
  text: string,
  start: number,
  headers: ParsedResponse['headers'],
): { content: string; end: number } | undefined {
  if (headers.has('transfer-encoding')) {
    assert.equal(headers.get('transfer-encoding'), 'chunked');
    return chunksAt(text, start);
  }
  // A response without a length ends when the connection ends.
  const length = headers.get('content-length') ?? String(text.length - start);
  assert.match(length, /^\d+$/);
  const end = start + Number(length);
  return end > text.length ? undefined : { content: text.slice(start, end), end };
}

function chunksAt(text: string, start: number): { content: string; end: number } | undefined {
  let content = '';
  for (let at = start; ;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const line = text.slice(at, lineEnd);
    assert.match(line, /^[\da-f]+$/);
    const end = lineEnd + 2 + parseInt(line, 16);
    if (text.length < end + 2) return undefined;
    assert.ok(text.startsWith('\r\n', end), `a chunk is longer than ${line}`);
    content += text.slice(lineEnd + 2, end);
    at = end + 2;
    if (end === lineEnd + 2) return { content, end: at };
  }
}
