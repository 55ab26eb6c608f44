import { readChunked } from './chunked.ts';
import type { BodyRead } from './chunked.ts';
import { elementsOf, readFields, valuesOf } from './fields.ts';
import type { Field } from './fields.ts';

/** A request as RFC 9112 reads it. */
export interface Request {
  readonly method: string;
  readonly target: string;
  readonly fields: readonly Field[];
  /** The body's bytes, as latin1. */
  readonly body: string;
  readonly bodyState: BodyRead['state'];
  readonly hasBody: boolean;
  readonly headLength: number;
  readonly isHttp10: boolean;
  /** Why it has to be refused with 400, whatever it asks for. */
  readonly faults: readonly string[];
  /** Why it may be refused with 400 as well as served. */
  readonly doubts: readonly string[];
  /** Whether the connection ends behind its answer. */
  readonly isLast: boolean;
}

/** What the bytes that one client sends on one connection say. */
export interface RequestStream {
  readonly requests: readonly Request[];
  /** What stands behind the last request that could be read. */
  readonly rest: 'nothing' | 'incomplete' | 'broken';
  /** Whether that looks like a HEAD. */
  readonly isRestHead: boolean;
}

const requestLine = /^([!#$%&'*+.^_`|~\dA-Za-z-]+)( +)([\x21-\x7e\x80-\xff]+)(?:( +)(HTTP|RTSP|ICE)\/(\d)\.(\d))?$/;

/** Reads all requests in `text`, bytes as latin1, by RFC 9112 alone. */
export function readRequests(text: string): RequestStream {
  const { end, ...stream } = readAll(text);
  return { ...stream, isRestHead: /^[\r\n]*HEAD /.test(text.slice(end)) };
}

function readAll(text: string): Omit<RequestStream, 'isRestHead'> & { readonly end: number } {
  const requests: Request[] = [];
  for (let at = 0; ;) {
    const start = at + (/^[\r\n]*/.exec(text.slice(at, at + 100))?.[0].length ?? 0);
    if (start === text.length) return { requests, end: at, rest: start === at ? 'nothing' : 'incomplete' };
    const headEnd = text.indexOf('\r\n\r\n', start);
    if (headEnd === -1) return { requests, end: at, rest: 'incomplete' };
    const head = readHead(text.slice(start, headEnd).split('\r\n'));
    if (head === undefined) return { requests, end: at, rest: 'broken' };
    const body = readBody(text, headEnd + 4, head.fields);
    if (body === undefined) return { requests, end: at, rest: 'broken' };
    const { doubts, faults } = head;
    if (start > at) doubts.push('empty line in front');
    if (body.state === 'complete') doubts.push(...body.doubts);
    if (elementsOf(head.fields, 'content-length').length > 1) doubts.push('two lengths');
    const hasCoding = valuesOf(head.fields, 'transfer-encoding').length > 0;
    if (hasCoding && valuesOf(head.fields, 'content-length').length > 0) doubts.push('coding and length');
    if (hasCoding && head.isHttp10) head.faults.push('a coding in HTTP/1.0');
    const options = elementsOf(head.fields, 'connection');
    const isLast =
      options.includes('close') || (head.isHttp10 && !options.includes('keep-alive')) || head.method === 'CONNECT';
    const hasBody = hasCoding || valuesOf(head.fields, 'content-length').some((value) => value !== '0');
    requests.push({
      ...head,
      faults,
      doubts,
      body: body.body,
      bodyState: body.state,
      hasBody,
      headLength: headEnd - start,
      isLast,
    });
    if (body.state !== 'complete') return { requests, end: at, rest: 'nothing' };
    if (isLast) return { requests, end: at, rest: 'nothing' };
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

function readHead([line = '', ...fieldLines]: readonly string[]): Head | undefined {
  const [, method, before, target, behind, protocol, major, minor] = requestLine.exec(line) ?? [];
  const block = readFields(fieldLines);
  if (method === undefined || target === undefined || block === undefined) return undefined;
  const faults: string[] = [];
  const head = { method, target, fields: block.fields, isHttp10: minor === '0', faults, doubts: [...block.doubts] };
  if (before !== ' ' || (behind ?? ' ') !== ' ') head.doubts.push('spaces in the request line');
  if (/[^!$%&'()*+,\-./\w:;=?@[\]~]/.test(target)) head.doubts.push('no URI character');
  if (!/^(?:\/|\*$|https?:\/\/)/i.test(target)) head.doubts.push('odd form of target');
  // RTSP and ICE are other protocols, but node:http's parser takes them for HTTP and does not tell.
  if ((protocol ?? 'HTTP') !== 'HTTP') head.doubts.push('unknown protocol');
  // Without a version it is HTTP/0.9.
  if (major !== '1') faults.push('unknown version');
  else if (minor !== '0' && minor !== '1') head.doubts.push('minor version');
  const hosts = valuesOf(head.fields, 'host');
  if (hosts.length === 0 && major === '1' && minor !== '0') faults.push('no Host');
  if (hosts.length > 1) faults.push('two Hosts');
  // Whether a Host is looked at beyond its number is left open, as is what a proxy's target does to it.
  if (hosts.some((host) => !/^[\w.-]*(?::\d*)?$/.test(host)) || !target.startsWith('/')) head.doubts.push('odd Host');
  return head;
}

/** RFC 9112 §6.3; `undefined` where nobody can say where the body ends. */
function readBody(text: string, start: number, fields: readonly Field[]): BodyRead | undefined {
  const lengths = elementsOf(fields, 'content-length');
  if (!lengths.every((length) => /^\d+$/.test(length) && length === lengths[0])) return undefined;
  const codings = elementsOf(fields, 'transfer-encoding');
  if (codings.length > 0) return codings.join() === 'chunked' ? readChunked(text, start) : undefined;
  const length = Number(lengths[0] ?? 0);
  const body = text.slice(start, start + length);
  if (body.length < length) return { state: 'incomplete', body };
  const doubts = (lengths[0] ?? '').length > 15 ? ['long length'] : [];
  return { state: 'complete', body, end: start + length, doubts };
}
