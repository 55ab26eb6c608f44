/** A request of a check, in the terms of WHATWG fetch. */
export interface CheckRequest {
  readonly method: string;
  /** The path and query after the base URL, such as `/plants?limit=1`. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

/** A complete response. */
export interface CheckResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The body as it was received, decoded from UTF-8; empty if there is none. */
  readonly text: string;
}

/** A request and the response to it. */
export interface Exchange {
  readonly request: CheckRequest;
  readonly response: CheckResponse;
}

/**
 * Sends a request and resolves with the complete response. The checks use nothing else to reach a server, so the same
 * checks run over a network and against a request handler in this process.
 *
 * @throws {NoResponseError} if no complete response arrives.
 */
export type Send = (request: CheckRequest) => Promise<CheckResponse>;

/** The server did not send a complete response. The message says what happened instead. */
export class NoResponseError extends Error {
  override readonly name = 'NoResponseError';
}
