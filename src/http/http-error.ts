import { errorTable } from '../model/errors.ts';
import type { ErrorCode, HttpErrorCode } from '../model/errors.ts';

/** The code of any error that a response can have. */
export type ResponseCode = ErrorCode | HttpErrorCode;

/** An error that only occurs over HTTP, such as a missing token. It becomes the response to the client. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  /** The row of {@link errorTable} that describes the error. */
  readonly code: HttpErrorCode;

  constructor(code: HttpErrorCode, message: string = errorTable[code].message, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
