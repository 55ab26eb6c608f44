export interface TestRequest {
  readonly method: string;
  /** The path and query after the base URL, such as `/plants?limit=1`. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
}

/** A request, and the response to it if the server sent a complete one. */
export interface Exchange {
  readonly request: TestRequest;
  /** 0 if the server did not send a complete response. */
  readonly status: number;
  readonly headers: Headers;
  /** The body, decoded from UTF-8. If the status is 0, the reason why there is no response. */
  readonly text: string;
}

/** Thrown if a response does not follow a rule. The message completes the sentence "The test expects …". */
export class Unexpected extends Error {
  readonly exchange: Exchange;

  constructor(expected: string, exchange: Exchange) {
    super(expected);
    this.exchange = exchange;
  }
}

/** Thrown if a test cannot be run on this server. The message is the reason. */
export class NotRun extends Error {}

const timeoutMs = 10_000;

/** Sends a request to the server at `baseUrl`. Redirects are not followed. */
export async function send(
  fetch: (request: Request) => Promise<Response>,
  baseUrl: string,
  request: TestRequest,
): Promise<Exchange> {
  const { method, target, headers, body } = request;
  const signal = AbortSignal.timeout(timeoutMs);
  // For a string body, `Request` would add a Content-Type header that the test has not specified.
  const content = body === undefined ? {} : { body: Buffer.from(body) };
  const attempt = async (): Promise<Exchange> => {
    const response = await fetch(
      new Request(baseUrl + target, { method, headers, redirect: 'manual', signal, ...content }),
    );
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await response.arrayBuffer());
    return { request, status: response.status, headers: response.headers, text };
  };
  const answered = attempt().catch((error: unknown) => {
    if (isUnprocessed(error)) return attempt();
    throw error;
  });
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });
  try {
    return await Promise.race([answered, late]);
  } catch (error) {
    const none = { request, status: 0, headers: new Headers(), text: rootCause(error).message };
    throw new Unexpected(`a complete response within ${timeoutMs / 1000} s`, none);
  }
}

/**
 * Returns whether the server closed an HTTP/2 connection and guaranteed that it has not processed the request (RFC 9113
 * §8.7), as nginx does after 1000 requests. `fetch` reports this error code only if the guarantee applies.
 */
function isUnprocessed(error: unknown): boolean {
  const { code, message } = rootCause(error);
  return code === 'UND_ERR_INFO' && message.includes('"GOAWAY"');
}

/** Returns why `fetch` failed. The message of its error is often only "fetch failed". */
function rootCause(error: unknown): { message: string; code?: unknown } {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof AggregateError ? (cause.errors[0] as Error) : (cause as Error);
}
