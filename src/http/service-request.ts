/** A request to the service. Each front, such as the one for node:http, implements it for its own requests. */
export interface ServiceRequest {
  /** The method, such as `GET`. */
  readonly method: string;
  /** The request target (RFC 9112 §3.2): a path and a query, or an absolute URL. */
  readonly target: string;
  /** The prefix that a framework has removed from the target, such as `/garden`; empty if none. */
  readonly mountPath: string;
  /** Whether a response can still be sent. */
  readonly isOpen: boolean;
  /**
   * Returns the value of a header, or `undefined` if it was not sent. The values of a repeated header are joined by
   * commas (RFC 9110 §5.3). `name` must be in lower case.
   */
  header(name: string): string | undefined;
  /**
   * Reads the whole body. If it has not arrived yet, `beforeWaiting` is called first with the number of bytes that the
   * body may use in memory. If `beforeWaiting` throws, the body is not read.
   *
   * @throws {PlantStoreError} `body_too_large` if the body exceeds `maxBytes`; `malformed_request` if the client
   *   disconnects before the end.
   */
  readBody(maxBytes: number, beforeWaiting: (bytes: number) => void): Buffer | Promise<Buffer>;
  /** Waits for the end of a body that has no defined semantics (RFC 9110 §9.3.5). Throws like {@link readBody}. */
  discardBody(maxBytes: number): Promise<void> | undefined;
  /** Returns whether the client has disconnected. Unlike {@link isOpen}, this may send data to find out. */
  isClientGone(): boolean;
}
