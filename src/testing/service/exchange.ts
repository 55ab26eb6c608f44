export interface TestRequest {
  readonly method: string;
  /** The path and query after the base URL, such as `/plants?limit=1`. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
}

/** A request, and the complete response to it. */
export interface Exchange {
  readonly request: TestRequest;
  readonly status: number;
  readonly headers: Headers;
  /** The body, decoded from UTF-8; empty if there is none. */
  readonly text: string;
}

/** Thrown if a response does not follow a rule. `expected` completes the sentence "The test expects …". */
export class Unexpected extends Error {
  readonly exchange: Exchange | undefined;
  readonly received: string;

  constructor(expected: string, exchange?: Exchange, received = '') {
    super(expected);
    this.exchange = exchange;
    this.received = received;
  }
}

/** Thrown if the server did not send a complete response. The message states what happened instead. */
export class NoResponse extends Error {
  readonly request: TestRequest;
  readonly isTimeout: boolean;

  constructor(message: string, request: TestRequest, isTimeout = false) {
    super(message);
    this.request = request;
    this.isTimeout = isTimeout;
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
  try {
    const answered = attempt().catch((error: unknown) => {
      if (isUnprocessed(error)) return attempt();
      throw error;
    });
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
    });
    return await Promise.race([answered, late]);
  } catch (error) {
    const text = signal.aborted ? `no complete response within ${timeoutMs / 1000} s` : reason(error);
    throw new NoResponse(text, request, signal.aborted);
  }
}

/**
 * Returns whether the server closed an HTTP/2 connection and guaranteed that it has not processed the request (RFC 9113
 * §8.7), as nginx does after 1000 requests. `fetch` reports this error code only if the guarantee applies.
 */
function isUnprocessed(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return (
    cause instanceof Error && 'code' in cause && cause.code === 'UND_ERR_INFO' && cause.message.includes('"GOAWAY"')
  );
}

/** Returns why `fetch` failed. The message of its error is always "fetch failed". */
function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const [first] = cause instanceof AggregateError ? (cause.errors as unknown[]) : [cause];
  return first instanceof Error ? first.message : String(first);
}
