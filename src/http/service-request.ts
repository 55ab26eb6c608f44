/** A request to the service. node:http requests and WHATWG `Request` objects are adapted to this interface. */
export interface ServiceRequest {
  /** The id that `requestIdOf` returned for the request. Every access returns the same id. */
  readonly id: string;
  /** The method, such as `GET`. */
  readonly method: string;
  /** The request target (RFC 9112 §3.2): a path and a query, or an absolute URL. */
  readonly target: string;
  /** The prefix that a framework has removed from the target, such as `/garden`; empty if no prefix was removed. */
  readonly mountPath: string;
  /** The IP address of the other end of the connection; `undefined` if it is unknown. */
  readonly peerAddress: string | undefined;
  /** Whether a response can still be sent. */
  readonly isOpen: boolean;
  /**
   * Returns the value of a header, or `undefined` if the header was not sent. The values of a repeated header are
   * joined by commas (RFC 9110 §5.3). `name` must be in lower case.
   */
  header(name: string): string | undefined;
  /**
   * Reads the whole body. If the body has not arrived completely, `beforeWaiting` is called first, with the number of
   * bytes to reserve for the body. If `beforeWaiting` throws, the body is not read.
   *
   * @throws {HttpError} `body_too_large` if the body exceeds `maxBytes`; `malformed_request` if the client disconnects
   *   before the end of the body.
   */
  readBody(maxBytes: number, beforeWaiting: (bytes: number) => void): Buffer | Promise<Buffer>;
  /**
   * Reads and discards a body that has no defined semantics, such as the body of a DELETE request (RFC 9110 §9.3.5).
   * Returns `undefined` if there is no body to wait for. Throws the same errors as {@link readBody}.
   */
  discardBody(maxBytes: number): Promise<void> | undefined;
  /**
   * Returns whether the client has disconnected. Unlike {@link isOpen}, this method may send data to detect a
   * disconnect.
   */
  isClientGone(): boolean;
}
