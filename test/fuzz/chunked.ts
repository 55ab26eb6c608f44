import { parseFields } from './fields.ts';

/** A body as far as it was received, and where it ends. */
export type ParsedBody =
  | { readonly state: 'complete'; readonly body: string; readonly end: number; readonly doubts: readonly string[] }
  | { readonly state: 'incomplete' | 'broken'; readonly body: string };

const chunkLine = /^([\dA-Fa-f]+)(.*)$/s;
const token = "[!#$%&'*+.^_`|~\\dA-Za-z-]+";
const extensions = new RegExp(`^(?:;${token}(?:=(?:${token}|"[^"\\\\\\0-\\x1f\\x7f]*"))?)*$`);

/** Parses a chunked body (RFC 9112 §7.1) that starts at `start`. */
export function parseChunked(text: string, start: number): ParsedBody {
  const doubts: string[] = [];
  let body = '';
  for (let at = start; ;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd === -1) return { state: 'incomplete', body };
    const line = text.slice(at, lineEnd);
    const [, digits, extension = ''] = chunkLine.exec(line) ?? [];
    if (digits === undefined || /[\0\r\n]/.test(line)) return { state: 'broken', body };
    if (!extensions.test(extension)) {
      if (!/^[ \t]*;/.test(extension)) return { state: 'broken', body };
      doubts.push('odd chunk extension');
    }
    if (digits.length > 16 || line.length > 1000) doubts.push('long chunk line');
    const size = parseInt(digits, 16);
    at = lineEnd + 2;
    if (size === 0) return parseTrailers(text, at, body, doubts);
    if (text.length < at + size + 2) {
      const isCut = text.length <= at + size || text.slice(at + size) === '\r';
      return { state: isCut ? 'incomplete' : 'broken', body: body + text.slice(at, at + size) };
    }
    body += text.slice(at, at + size);
    at += size;
    if (text.slice(at, at + 2) !== '\r\n') return { state: 'broken', body };
    at += 2;
  }
}

function parseTrailers(text: string, start: number, body: string, doubts: readonly string[]): ParsedBody {
  if (text.startsWith('\r\n', start)) return { state: 'complete', body, end: start + 2, doubts };
  const end = text.indexOf('\r\n\r\n', start);
  if (end === -1) return { state: 'incomplete', body };
  const trailers = parseFields(text.slice(start, end).split('\r\n'));
  if (trailers === undefined) return { state: 'broken', body };
  // A trailer must not contain a field for framing or authentication (RFC 9110 §6.5.1).
  const isOdd = trailers.fields.some(({ name }) =>
    ['content-length', 'transfer-encoding', 'host', 'authorization'].includes(name),
  );
  const all = [...doubts, ...trailers.doubts];
  if (isOdd) all.push('odd trailer');
  if (end - start > 8000) all.push('long trailers');
  return { state: 'complete', body, end: end + 4, doubts: all };
}
