import { NoResponse, Unexpected } from './exchange.ts';
import type { Exchange, TestRequest } from './exchange.ts';
import type { ServiceTokens } from './options.ts';

const maxShownText = 500;
/** The response headers that a message contains, because many tests depend on them. */
const shownHeaders = ['content-type', 'www-authenticate', 'allow', 'link', 'location', 'cache-control'];
/** A token that is shorter than this is replaced only as a whole word, because other words may contain it. */
const minLongToken = 16;

/** Returns the error with which a test fails. Its message never contains a token. */
export function explain(error: unknown, source: string, baseUrl: string, tokens: ServiceTokens): Error {
  if (!(error instanceof Unexpected || error instanceof NoResponse)) return error as Error;
  const isAnswered = error instanceof Unexpected;
  const request = isAnswered ? error.exchange?.request : error.request;
  const lines = [
    ['expected', isAnswered ? error.message : 'a complete response'],
    ['received', isAnswered ? error.received : error.message],
    ...(isAnswered && error.exchange ? describe(error.exchange) : []),
    ['source', source],
    ['request', request ? curl(baseUrl, request) : ''],
  ].filter(([, text]) => text !== '');
  const shown = lines.map(([title = '', text = '']) => `${title.padEnd(8)}: ${shorten(redact(text, tokens))}`);
  const explained = new Error(shown.join('\n').replaceAll(/[^\n\x20-\x7e]/g, escape));
  // The stack shows only functions of the suite.
  explained.stack = explained.message;
  return explained;
}

function describe({ status, headers, text }: Exchange): string[][] {
  const shown = shownHeaders.filter((name) => headers.has(name)).map((name) => `, ${name}: ${headers.get(name) ?? ''}`);
  const isHtml = headers.get('content-type')?.startsWith('text/html') === true;
  const note = isHtml ? 'A proxy or a web framework probably sent this HTML page.' : '';
  return [
    ['received', `status ${status}${shown.join('')}`],
    ['body', text.replaceAll('\n', '\\n')],
    ['note', note],
  ];
}

/** Replaces the tokens, also where they are percent-encoded or escaped as in JSON. */
function redact(text: string, tokens: ServiceTokens): string {
  const names = { TOKEN_A: tokens.a, TOKEN_B: tokens.b, READ_ONLY_TOKEN: tokens.readOnly ?? tokens.a };
  const byLength = Object.entries(names).sort(([, one], [, other]) => other.length - one.length);
  return byLength.reduce((redacted, [name, token]) => redacted.replaceAll(tokenPattern(token), `$$${name}`), text);
}

function shorten(text: string): string {
  return text.length > maxShownText ? `${text.slice(0, maxShownText)}... (${text.length} characters)` : text;
}

export function tokenPattern(token: string): RegExp {
  const pattern = token.replaceAll(/[^A-Za-z0-9]/g, (character) => {
    const hex = character.charCodeAt(0).toString(16);
    return `(?:\\\\?\\${character}|(?:%|\\\\u00)(?:${hex}|${hex.toUpperCase()}))`;
  });
  const isLong = token.length >= minLongToken;
  return new RegExp(
    isLong ? pattern : `(?<=^|[^A-Za-z0-9]|%[0-9A-Fa-f]{2}|\\\\u[0-9A-Fa-f]{4})${pattern}(?![A-Za-z0-9])`,
    'g',
  );
}

function curl(baseUrl: string, { method, target, headers, body }: TestRequest): string {
  const parts = [`curl -i --path-as-is -X ${method}`];
  if (method === 'HEAD') parts[0] = 'curl --head --path-as-is';
  // Double quotes let the shell replace variables such as $TOKEN_A.
  for (const [name, value] of Object.entries(headers)) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body !== undefined && headers['content-type'] === undefined) parts.push("-H 'Content-Type:'");
  parts.push(quoted(baseUrl + target));
  if (body === undefined) return parts.join(' ');
  const isShort = typeof body === 'string' && body.length <= maxShownText / 2;
  parts.push(`--data-binary ${isShort ? quoted(body) : `@body (${Buffer.byteLength(body)} bytes)`}`);
  return parts.join(' ');
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\$`]/g, '\\$&')}"`;
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
