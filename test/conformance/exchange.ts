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

const deadlineMs = 20_000;

/** Returns a function that sends requests to the server at `url`. Redirects are not followed. */
export function deliverTo(url: string, send: (request: Request) => Promise<Response> = fetch): Deliver {
  return async (request) => {
    const { method, target, headers, body } = request;
    const signal = AbortSignal.timeout(deadlineMs);
    // For a string, `Request` would add a Content-Type header.
    const content = body === undefined ? {} : { body: Buffer.from(body) };
    const sent = new Request(url + target, { method, headers, redirect: 'manual', signal, ...content });
    try {
      const response = await send(sent);
      const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await response.arrayBuffer());
      return { request, status: response.status, headers: response.headers, text };
    } catch (cause) {
      const { code, message } = ((cause as Error).cause ?? cause) as { code?: string; message: string };
      const reason = signal.aborted ? `within ${deadlineMs / 1000} s` : `(${code ?? message})`;
      throw new Error(`no complete response to ${method} ${target} ${reason}`, { cause });
    }
  };
}

function quoted(content: string | Uint8Array): string {
  return shortened(JSON.stringify(Buffer.from(content).toString()));
}

function shortened(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)}... (${text.length} characters)` : text;
}
