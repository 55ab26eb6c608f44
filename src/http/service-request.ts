/** A request to the service. node:http requests and WHATWG `Request` objects are adapted to this interface. */
export interface ServiceRequest {
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
   * Reads the whole body.
   *
   * @throws {HttpError} `body_too_large` if the body exceeds `maxBytes`; `malformed_request` if the client disconnects
   *   before the end of the body.
   */
  readBody(maxBytes: number): Promise<Buffer>;
}
