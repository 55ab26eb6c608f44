import { once } from 'node:events';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';

export interface SentRequest {
  readonly method: string;
  /** The path and query after the base URL, such as `/plants?limit=1`. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
}

/** A request and the response to it. */
export interface Exchange {
  readonly request: SentRequest;
  readonly status: number;
  readonly headers: Headers;
  /** The body, decoded from UTF-8. */
  readonly text: string;
}

export type Deliver = (request: SentRequest) => Promise<Exchange>;

/** Thrown if a response breaks a rule. The message shows what was sent, expected and received. */
export class Failure extends Error {
  constructor(expected: string, { request, status, headers, text }: Exchange) {
    const { method, target, headers: sent, body = '' } = request;
    const received = Object.fromEntries(headers);
    const lines = [
      `expected: ${shortened(expected)}`,
      `sent:     ${method} ${target} ${JSON.stringify(sent)} ${quoted(body)}`,
      `received: ${status} ${JSON.stringify(received)} ${quoted(text)}`,
    ];
    super(lines.join('\n'));
  }
}

/** Thrown if the server does not send a complete response in time. */
export class Unanswered extends Error {}

const deadlineMs = 5000;

/** Returns a function that sends requests to the server at `url`. Redirects are not followed. */
export function deliverTo(url: string, send: (request: Request) => Promise<Response> = fetch): Deliver {
  return async (request) => {
    const signal = AbortSignal.timeout(deadlineMs);
    try {
      if (send === fetch && request.method === 'HEAD') return await deliverHead(url, request, signal);
      const { method, target, headers, body } = request;
      // For a string, `Request` would add a Content-Type header.
      const content = body === undefined ? {} : { body: Buffer.from(body) };
      const response = await send(
        new Request(url + target, { method, headers, redirect: 'manual', signal, ...content }),
      );
      const bytes = await response.arrayBuffer();
      return { request, status: response.status, headers: response.headers, text: decoded(bytes) };
    } catch (error) {
      const { code = '', message } = causeOf(error);
      const what = `no complete response to ${request.method} ${request.target} within ${deadlineMs / 1000} s`;
      throw new Unanswered(`${what}: ${code} ${message}`);
    }
  };
}

/** Sends a HEAD request on a connection of its own, because `fetch` would hide a body that follows the header. */
async function deliverHead(base: string, request: SentRequest, signal: AbortSignal): Promise<Exchange> {
  const url = new URL(base + request.target);
  const isTls = url.protocol === 'https:';
  const place = { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) || (isTls ? 443 : 80) };
  const socket = isTls ? connectTls(place) : connect(place);
  const close = (): unknown => socket.destroy(signal.reason as Error);
  signal.addEventListener('abort', close);
  try {
    await once(socket, isTls ? 'secureConnect' : 'connect');
    const fields = Object.entries({ host: url.host, connection: 'close', ...request.headers });
    const lines = [`HEAD ${url.pathname}${url.search} HTTP/1.1`, ...fields.map((field) => field.join(': '))];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    const [head = '', text = ''] = decoded(await buffer(socket)).split(/\r\n\r\n(.*)/s);
    const [statusLine = '', ...received] = head.split('\r\n');
    const headers = new Headers(received.map((line) => line.split(/:\s*(.*)/s, 2) as [string, string]));
    return { request, status: Number(statusLine.split(' ')[1]), headers, text };
  } finally {
    signal.removeEventListener('abort', close);
    socket.destroy();
  }
}

function decoded(bytes: ArrayBuffer | Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

/** Returns why `fetch` failed. The message of its error is often only "fetch failed". */
function causeOf(error: unknown): { message: string; code?: string } {
  return ((error as Error).cause ?? error) as { message: string; code?: string };
}

function quoted(content: string | Uint8Array): string {
  return shortened(JSON.stringify(Buffer.from(content).toString()));
}

function shortened(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)}... (${text.length} characters)` : text;
}
