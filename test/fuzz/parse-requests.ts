import { parseChunked } from './chunked.ts';
import type { ParsedBody } from './chunked.ts';
import { elementsOf, parseFields, valuesOf } from './fields.ts';
import type { Field } from './fields.ts';

/** A request, parsed as RFC 9112 specifies. */
export interface Request {
  readonly method: string;
  readonly target: string;
  readonly fields: readonly Field[];
  /** The bytes of the body, as latin1. */
  readonly body: string;
  readonly bodyState: ParsedBody['state'];
  readonly hasBody: boolean;
  readonly headLength: number;
  readonly isHttp10: boolean;
  /** Reasons why it must be refused with 400. */
  readonly faults: readonly string[];
  /** Reasons why it may be either refused with 400 or served. */
  readonly doubts: readonly string[];
  /** Whether the connection ends after its response. */
  readonly isLast: boolean;
}

/** The bytes that a client sent on one connection. */
export interface RequestStream {
  readonly requests: readonly Request[];
  /** The state of the bytes after the last request. */
  readonly rest: 'nothing' | 'incomplete' | 'broken';
  /** Whether these bytes look like a HEAD request. */
  readonly isRestHead: boolean;
}

const requestLine = /^([!#$%&'*+.^_`|~\dA-Za-z-]+)( +)([\x21-\x7e\x80-\xff]+)(?:( +)(HTTP|RTSP|ICE)\/(\d)\.(\d))?$/;

/** Parses all requests in `text` (bytes as latin1), by RFC 9112 alone. */
export function parseRequests(text: string): RequestStream {
  const requests: Request[] = [];
  let at = 0;
  const streamWith = (rest: RequestStream['rest']): RequestStream => {
    return { requests, rest, isRestHead: /^[\r\n]*HEAD /.test(text.slice(at)) };
  };
  for (;;) {
    const start = at + (/^[\r\n]*/.exec(text.slice(at, at + 100))?.[0].length ?? 0);
    if (start === text.length) return streamWith(start === at ? 'nothing' : 'incomplete');
    const headEnd = text.indexOf('\r\n\r\n', start);
    if (headEnd === -1) return streamWith('incomplete');
    const head = parseHead(text.slice(start, headEnd).split('\r\n'));
    if (head === undefined) return streamWith('broken');
    const body = parseBody(text, headEnd + 4, head.fields);
    if (body === undefined) return streamWith('broken');
    const { method, fields, isHttp10, doubts, faults } = head;
    if (start > at) doubts.push('empty line before the request');
    if (body.state === 'complete') doubts.push(...body.doubts);
    const lengths = elementsOf(fields, 'content-length');
    const hasCoding = valuesOf(fields, 'transfer-encoding').length > 0;
    if (lengths.length > 1) doubts.push('two lengths');
    if (hasCoding && lengths.length > 0) doubts.push('coding and length');
    if (hasCoding && isHttp10) faults.push('a coding in HTTP/1.0');
    const options = elementsOf(fields, 'connection');
    const isLast = options.includes('close') || (isHttp10 && !options.includes('keep-alive')) || method === 'CONNECT';
    const hasBody = hasCoding || lengths.some((length) => length !== '0');
    const headLength = headEnd - start;
    requests.push({ ...head, body: body.body, bodyState: body.state, hasBody, headLength, isLast });
    if (body.state !== 'complete' || isLast) return streamWith('nothing');
    at = body.end;
  }
}

interface Head {
  readonly method: string;
  readonly target: string;
  readonly fields: readonly Field[];
  readonly isHttp10: boolean;
  readonly faults: string[];
  readonly doubts: string[];
}

function parseHead([line = '', ...fieldLines]: readonly string[]): Head | undefined {
  const [, method, spaceBefore, target, spaceAfter, protocol, major, minor] = requestLine.exec(line) ?? [];
  const block = parseFields(fieldLines);
  if (method === undefined || target === undefined || block === undefined) return undefined;
  const faults: string[] = [];
  const head = { method, target, fields: block.fields, isHttp10: minor === '0', faults, doubts: [...block.doubts] };
  if (spaceBefore !== ' ' || (spaceAfter ?? ' ') !== ' ') head.doubts.push('spaces in the request line');
  if (/[^!$%&'()*+,\-./\w:;=?@[\]~]/.test(target)) head.doubts.push('not a URI character');
  if (!/^(?:\/|\*$|https?:\/\/)/i.test(target)) head.doubts.push('odd form of target');
  // The parser of node:http accepts the protocols RTSP and ICE, and does not report them.
  if ((protocol ?? 'HTTP') !== 'HTTP') head.doubts.push('unknown protocol');
  // A request without a version is HTTP/0.9.
  if (major !== '1') faults.push('unknown version');
  else if (minor !== '0' && minor !== '1') head.doubts.push('minor version');
  const hosts = valuesOf(head.fields, 'host');
  if (hosts.length === 0 && major === '1' && minor !== '0') faults.push('no Host');
  if (hosts.length > 1) faults.push('two Hosts');
  // The service may validate the Host or not, and may compare it with an absolute target or not.
  if (hosts.some((host) => !/^[\w.-]*(?::\d*)?$/.test(host)) || !target.startsWith('/')) head.doubts.push('odd Host');
  return head;
}

/** Finds the body (RFC 9112 §6.3). Returns `undefined` if its end is not determined. */
function parseBody(text: string, start: number, fields: readonly Field[]): ParsedBody | undefined {
  const lengths = elementsOf(fields, 'content-length');
  if (!lengths.every((length) => /^\d+$/.test(length) && length === lengths[0])) return undefined;
  const codings = elementsOf(fields, 'transfer-encoding');
  if (codings.length > 0) return codings.join() === 'chunked' ? parseChunked(text, start) : undefined;
  const length = Number(lengths[0] ?? 0);
  const body = text.slice(start, start + length);
  if (body.length < length) return { state: 'incomplete', body };
  const doubts = (lengths[0] ?? '').length > 15 ? ['long length'] : [];
  return { state: 'complete', body, end: start + length, doubts };
}
