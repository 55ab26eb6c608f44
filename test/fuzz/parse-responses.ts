import { parseChunked } from './chunked.ts';
import { rule } from './finding.ts';
import { elementsOf, parseFields, valuesOf } from './fields.ts';
import type { Field } from './fields.ts';
import { words } from './lists.ts';

/** A final response. */
export interface ParsedResponse {
  readonly status: number;
  readonly fields: readonly Field[];
  /** The bytes of the body, as latin1. */
  readonly body: string;
  /** How many interim responses (1xx) precede it. */
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

const statusLine = /^HTTP\/1\.1 ([1-5]\d\d) [\t\x20-\x7e]*$/;

/**
 * Parses responses strictly: every deviation from RFC 9112 is a finding. `isHead(n)` tells whether
 * request `n` was a HEAD; `hasEnded` tells whether the connection has ended.
 */
export function parseResponses(text: string, isHead: (n: number) => boolean, hasEnded: boolean): ResponseStream {
  const responses: ParsedResponse[] = [];
  let interims = 0;
  let at = 0;
  while (at < text.length) {
    rule(
      'HTTP/1.1 '.startsWith(text.slice(at, at + 9)),
      () => `not a response: ${JSON.stringify(text.slice(at, at + 60))}`,
    );
    const headEnd = text.indexOf('\r\n\r\n', at);
    if (headEnd === -1) break;
    const [line = '', ...lines] = text.slice(at, headEnd).split('\r\n');
    const status = Number(statusLine.exec(line)?.[1]);
    const block = parseFields(lines);
    rule(
      status > 0 && block?.doubts.length === 0,
      () => `malformed response ${JSON.stringify(text.slice(at, headEnd))}`,
    );
    const { fields } = block;
    if (status < 200) {
      rule(status === 100 && fields.length === 0, () => `interim response ${status}`);
      interims++;
      at = headEnd + 4;
      continue;
    }
    const length = lengthOf(fields, status);
    const isLast = elementsOf(fields, 'connection').includes('close');
    // A refusal of a request that could not be parsed may have a body, although the request was a HEAD.
    const isBodiless = isHead(responses.length) && !(isLast && status >= 400 && text.length - headEnd - 4 === length);
    const body = bodyAt(text, headEnd + 4, isBodiless ? 0 : length, isLast && hasEnded);
    rule(body.state !== 'broken', () => `malformed chunks in ${JSON.stringify(text.slice(at))}`);
    if (body.state !== 'complete') break;
    responses.push({ status, fields, body: body.body, interims, isLast });
    interims = 0;
    at = body.end;
  }
  return { responses, rest: text.slice(at) };
}

type Length = number | 'chunked' | 'to the end';

const singleFields = words('content-type content-length transfer-encoding connection date www-authenticate allow link');

/** Returns the length of the body, which must be specified in exactly one way. */
function lengthOf(fields: readonly Field[], status: number): Length {
  for (const name of singleFields) rule(valuesOf(fields, name).length <= 1, () => `a response with two ${name} fields`);
  const [length] = valuesOf(fields, 'content-length');
  const [coding] = valuesOf(fields, 'transfer-encoding');
  rule(length === undefined || coding === undefined, () => 'a response with Content-Length and Transfer-Encoding');
  if (status === 204) {
    rule(length === undefined && coding === undefined, () => 'a 204 with a length');
    return 0;
  }
  rule(coding === undefined || coding === 'chunked', () => `a response with the transfer coding ${String(coding)}`);
  if (coding !== undefined) return 'chunked';
  if (length === undefined) return 'to the end';
  rule(/^\d+$/.test(length), () => `a response with Content-Length ${length}`);
  return Number(length);
}

function bodyAt(text: string, start: number, length: Length, hasEnded: boolean): ReturnType<typeof parseChunked> {
  if (length === 'chunked') return parseChunked(text, start);
  if (length === 'to the end' && !hasEnded) return { state: 'incomplete', body: '' };
  const end = length === 'to the end' ? text.length : start + length;
  const body = text.slice(start, end);
  return end > text.length ? { state: 'incomplete', body } : { state: 'complete', body, end, doubts: [] };
}
