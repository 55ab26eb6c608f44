import { errorTable } from '../core/model/errors.ts';
import type { ErrorCode, HttpErrorCode } from '../core/model/errors.ts';

/** An error code that a response can contain. */
export type ResponseCode = ErrorCode | HttpErrorCode;

/**
 * An error that occurs only over HTTP, such as a missing token. The service sends it to the client as an error
 * response.
 */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  /** The key of the error in {@link errorTable}. */
  readonly code: HttpErrorCode;

  constructor(code: HttpErrorCode, message: string = errorTable[code].message, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
