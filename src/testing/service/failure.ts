import type { TestRequest, Unexpected } from './exchange.ts';
import type { ServiceTokens } from './options.ts';

const maxShownText = 500;
/** The response headers that a message contains, because many tests depend on them. */
const shownHeaders = ['content-type', 'www-authenticate', 'allow', 'link', 'location', 'cache-control'];

/** Returns the error with which a test fails. Its message never contains a token. */
export function explain({ message, exchange }: Unexpected, baseUrl: string, tokens: ServiceTokens): Error {
  const { request, status, headers, text } = exchange;
  const shown = shownHeaders.filter((name) => headers.has(name)).map((name) => `, ${name}: ${headers.get(name) ?? ''}`);
  const answer = [`received: status ${status}${shown.join('')}`, `body    : ${text.replaceAll('\n', '\\n')}`];
  const lines = [
    `expected: ${message}`,
    ...(status === 0 ? [`received: ${text}`] : answer),
    `request : ${curl(baseUrl, request)}`,
  ];
  const explained = new Error(lines.map((line) => shorten(redact(line, tokens))).join('\n'));
  explained.message = explained.message.replaceAll(/[^\n\x20-\x7e]/g, escape);
  // The stack shows only functions of the suite.
  explained.stack = explained.message;
  return explained;
}

function redact(text: string, tokens: ServiceTokens): string {
  const names = { TOKEN_A: tokens.a, TOKEN_B: tokens.b, READ_ONLY_TOKEN: tokens.readOnly ?? tokens.a };
  // A token may begin with another one.
  const byLength = Object.entries(names).sort(([, one], [, other]) => other.length - one.length);
  return byLength.reduce((redacted, [name, token]) => {
    return redacted.replaceAll(encodeURIComponent(token), `$$${name}`).replaceAll(token, `$$${name}`);
  }, text);
}

function shorten(text: string): string {
  return text.length > maxShownText ? `${text.slice(0, maxShownText)}... (${text.length} characters)` : text;
}

function curl(baseUrl: string, { method, target, headers, body }: TestRequest): string {
  const parts = [method === 'HEAD' ? 'curl --head --path-as-is' : `curl -i --path-as-is -X ${method}`];
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
