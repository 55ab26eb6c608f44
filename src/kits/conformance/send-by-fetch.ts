import { NoResponseError } from './exchange.ts';
import type { CheckResponse, Send } from './exchange.ts';

interface SendByFetchOptions {
  /** Sends a request; by default the global `fetch`. Another function can handle the requests in this process. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** The timeout for a complete response, in milliseconds; default 10000. */
  readonly timeoutMs?: number;
  /** The maximum size of a response body in bytes; default 33554432. */
  readonly maxBodyBytes?: number;
}

/**
 * Returns a function that sends requests to the server at `baseUrl`. Redirects are not followed, so a check receives
 * the redirect response itself. A request that the server has certainly not processed is sent once more.
 */
export function sendByFetch(baseUrl: string, options: SendByFetchOptions = {}): Send {
  const { fetch: perform = fetch, timeoutMs = 10_000, maxBodyBytes = 33_554_432 } = options;
  return async ({ method, target, headers, body }) => {
    const signal = AbortSignal.timeout(timeoutMs);
    // For a string body, `Request` would add a Content-Type header that the check has not specified.
    const content = body === undefined ? {} : { body: Buffer.from(body) };
    const attempt = async (): Promise<CheckResponse> => {
      const request = new Request(baseUrl + target, { method, headers, redirect: 'manual', signal, ...content });
      const response = await perform(request);
      return { status: response.status, headers: response.headers, text: await readText(response, maxBodyBytes) };
    };
    try {
      return await attempt().catch((error: unknown) => {
        if (isUnprocessed(error)) return attempt();
        throw error;
      });
    } catch (error) {
      if (error instanceof NoResponseError) throw error;
      const text = signal.aborted ? `No complete response arrived within ${timeoutMs / 1000} seconds.` : reason(error);
      throw new NoResponseError(text, { cause: error });
    }
  };
}

/** Reads a body as UTF-8, which RFC 8259 §8.1 requires. */
async function readText(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) throw new NoResponseError(`The response body is longer than ${maxBytes} bytes.`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new NoResponseError('The response body is not valid UTF-8.', { cause });
  }
}

/**
 * Returns whether the server closed an HTTP/2 connection and guaranteed that it has not processed the request. It is
 * then safe to send the request again (RFC 9113 §8.7). nginx closes a connection in this way after 1000 requests.
 * `fetch` reports a GOAWAY frame with this error code only for requests to which the guarantee applies.
 */
function isUnprocessed(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const isInformational = cause instanceof Error && 'code' in cause && cause.code === 'UND_ERR_INFO';
  return isInformational && cause.message.includes('"GOAWAY"');
}

/**
 * Returns the reason why `fetch` failed. The reason is taken from the `cause` of the error, because the error's own
 * message is always "fetch failed". For a port that `fetch` blocks (WHATWG Fetch, "Port blocking"), the cause's message
 * is only "bad port".
 */
function reason(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(inner instanceof Error)) return String(inner);
  if (inner.message === 'bad port') return 'fetch blocks this port, because other protocols use it. Use another port.';
  const errors: unknown[] = inner instanceof AggregateError ? inner.errors : [];
  const texts = errors.filter((each) => each instanceof Error).map(({ message }) => message);
  return texts.length > 0 ? texts.join('; ') : inner.message;
}
