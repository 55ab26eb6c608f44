/** A request that a check sends. */
export interface CheckRequest {
  readonly method: string;
  /** The path and query after the base URL, such as `/plants?limit=1`. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
}

/** A complete response. */
export interface CheckResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The body, decoded from UTF-8; empty if there is none. */
  readonly text: string;
}

/** A request and the response to it. */
export interface Exchange {
  readonly request: CheckRequest;
  readonly response: CheckResponse;
}

/**
 * Sends a request and resolves with the complete response. The checks reach a server only through this function, so
 * they can run over a network or against a request handler in this process.
 *
 * @throws {NoResponseError} if no complete response arrives.
 */
export type Send = (request: CheckRequest) => Promise<CheckResponse>;

/** Thrown if the server did not send a complete response. The message states what happened instead. */
export class NoResponseError extends Error {
  override readonly name = 'NoResponseError';
}
