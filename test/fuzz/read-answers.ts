import { readChunked } from './chunked.ts';
import { rule } from './finding.ts';
import { elementsOf, readFields, valuesOf } from './fields.ts';
import type { Field } from './fields.ts';

/** A final answer as a strict reader finds it. */
export interface ReadAnswer {
  readonly status: number;
  readonly fields: readonly Field[];
  /** The body's bytes, as latin1. */
  readonly body: string;
  /** How many interim answers (1xx) came before it. */
  readonly interims: number;
  /** Whether it says that the connection ends behind it. */
  readonly isLast: boolean;
}

/** What the bytes from a server say. */
export interface AnswerStream {
  readonly answers: readonly ReadAnswer[];
  /** Interim answers behind the last final one. */
  readonly interims: number;
  /** Bytes that are no whole answer, or not yet. */
  readonly rest: string;
}

const statusLine = /^HTTP\/1\.1 ([1-5]\d\d) [\t\x20-\x7e]*$/;

/**
 * Reads answers strictly: every deviation from RFC 9112 is a finding. `isHead` tells of the n-th
 * request whether it was a HEAD; `hasEnded` whether the connection has.
 */
export function readAnswers(text: string, isHead: (n: number) => boolean, hasEnded: boolean): AnswerStream {
  const answers: ReadAnswer[] = [];
  let interims = 0;
  let at = 0;
  while (at < text.length) {
    rule(
      'HTTP/1.1 '.startsWith(text.slice(at, at + 9)),
      () => `no answer begins with ${JSON.stringify(text.slice(at, at + 60))}`,
    );
    const headEnd = text.indexOf('\r\n\r\n', at);
    if (headEnd === -1) break;
    const [line = '', ...lines] = text.slice(at, headEnd).split('\r\n');
    const status = Number(statusLine.exec(line)?.[1]);
    const block = readFields(lines);
    rule(status > 0 && block?.doubts.length === 0, () => `malformed answer ${JSON.stringify(text.slice(at, headEnd))}`);
    const { fields } = block;
    if (status < 200) {
      rule(status === 100 && fields.length === 0, () => `interim answer ${status}`);
      interims++;
      at = headEnd + 4;
      continue;
    }
    const length = lengthOf(fields, status);
    const isLast = elementsOf(fields, 'connection').includes('close');
    // What refuses a request before it can be read cannot know that it was a HEAD.
    const isBodiless = isHead(answers.length) && !(isLast && status >= 400 && text.length - headEnd - 4 === length);
    const body = bodyAt(text, headEnd + 4, isBodiless ? 0 : length, isLast && hasEnded);
    rule(body.state !== 'broken', () => `malformed chunks in ${JSON.stringify(text.slice(at))}`);
    if (body.state !== 'complete') break;
    answers.push({ status, fields, body: body.body, interims, isLast });
    interims = 0;
    at = body.end;
  }
  return { answers, interims, rest: text.slice(at) };
}

type Length = number | 'chunked' | 'to the end';

/** How long the body is; that there is but one way to tell is a rule. */
function lengthOf(fields: readonly Field[], status: number): Length {
  for (const name of [
    'content-type',
    'content-length',
    'transfer-encoding',
    'connection',
    'date',
    'www-authenticate',
    'allow',
    'link',
    'retry-after',
  ]) {
    rule(valuesOf(fields, name).length <= 1, () => `an answer with two ${name}`);
  }
  const [length] = valuesOf(fields, 'content-length');
  const [coding] = valuesOf(fields, 'transfer-encoding');
  rule(length === undefined || coding === undefined, () => 'an answer with Content-Length and Transfer-Encoding');
  if (status === 204) {
    rule(length === undefined && coding === undefined, () => 'a 204 with a length');
    return 0;
  }
  rule(coding === undefined || coding === 'chunked', () => `an answer in the coding ${String(coding)}`);
  if (coding !== undefined) return 'chunked';
  if (length === undefined) return 'to the end';
  rule(/^\d+$/.test(length), () => `an answer of length ${length}`);
  return Number(length);
}

function bodyAt(text: string, start: number, length: Length, hasEnded: boolean): ReturnType<typeof readChunked> {
  if (length === 'chunked') return readChunked(text, start);
  if (length === 'to the end') {
    if (!hasEnded) return { state: 'incomplete', body: '' };
    return { state: 'complete', body: text.slice(start), end: text.length, doubts: [] };
  }
  const body = text.slice(start, start + length);
  if (body.length < length) return { state: 'incomplete', body };
  return { state: 'complete', body, end: start + length, doubts: [] };
}
