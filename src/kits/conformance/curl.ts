import type { CheckClient } from './check-client.ts';
import type { CheckRequest } from './exchange.ts';

/** The maximum size in bytes of a body that a curl command includes. */
const maxBodyBytes = 500;

/** Returns a curl command that repeats a request. Shell variables such as `TOKEN_A` replace the tokens. */
export function curlCommand(client: CheckClient, { method, target, headers, body }: CheckRequest): string {
  const quote = (text: string): string =>
    client.redact(shellQuoted(text), (name) => `'"$${name}"'`).replace(/(?<=")''$/, '');
  const parts = ['curl', method === 'HEAD' ? '--head' : '-i', '--path-as-is'];
  if (method !== 'GET' && method !== 'HEAD') parts.push('-X', method);
  for (const [name, value] of Object.entries(headers)) parts.push('-H', quote(`${name}: ${value}`));
  parts.push(quote(client.baseUrl + target));
  if (body === undefined) return parts.join(' ');
  const bytes = Buffer.from(body);
  // Without this argument, curl would add a default Content-Type header.
  if (headers['content-type'] === undefined) parts.push('-H', "'Content-Type:'");
  if (bytes.length > maxBodyBytes) return `${parts.join(' ')} --data-binary @body (${bytes.length} bytes)`;
  const isText = typeof body === 'string' && !/[^\n\x20-\x7E]/.test(body);
  if (isText) return `${parts.join(' ')} --data-binary ${quote(body)}`;
  return `printf '${Array.from(bytes, printfText).join('')}' | ${parts.join(' ')} --data-binary @-`;
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Returns a byte in the notation of printf format strings, for use inside single quotes. */
function printfText(byte: number): string {
  const character = String.fromCharCode(byte);
  return /[\w ":,.{}[\]]/.test(character) ? character : `\\${byte.toString(8).padStart(3, '0')}`;
}
