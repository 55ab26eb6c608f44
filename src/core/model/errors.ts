/**
 * The table of all error codes. Each row contains the HTTP status, the integer in the response body's `error` field,
 * and the default message. The integer is status × 100 + n, and never changes.
 *
 * Several codes share the integer 50300, because a client should handle all of them in the same way: by retrying later.
 */
export const errorTable = {
  invalid_json: { status: 400, error: 40001, message: 'The body is not JSON in UTF-8.' },
  invalid_plant: { status: 400, error: 40002, message: 'The body is not a NewPlant.' },
  id_taken: { status: 400, error: 40003, message: 'You already have a plant with this id.' },
  invalid_id: { status: 400, error: 40004, message: 'The id must be a decimal integer from -2^63 to 2^63-1.' },
  invalid_limit: { status: 400, error: 40005, message: 'limit must be one decimal integer from 0 to 2147483647.' },
  invalid_after: { status: 400, error: 40006, message: 'after must be one decimal integer from -2^63 to 2^63-1.' },
  invalid_media_type: { status: 400, error: 40007, message: 'Content-Type must be application/json.' },
  body_too_large: { status: 400, error: 40008, message: 'The body is too large.' },
  invalid_user: {
    status: 400,
    error: 40010,
    message: 'user must be a string of 1 to 255 bytes of UTF-8, without U+0000 and without unpaired surrogates.',
  },
  malformed_request: { status: 400, error: 40009, message: 'The request is not well-formed HTTP.' },
  missing_credentials: { status: 401, error: 40101, message: 'An "Authorization: Bearer" header is required.' },
  invalid_token: { status: 401, error: 40102, message: 'The bearer token is malformed, unknown, expired or revoked.' },
  insufficient_scope: { status: 403, error: 40300, message: 'The token lacks the scope this operation needs.' },
  route_not_found: { status: 404, error: 40401, message: 'There is nothing at this path.' },
  plant_not_found: { status: 404, error: 40402, message: 'You have no plant with this id.' },
  method_not_allowed: { status: 405, error: 40500, message: 'This path does not support this method.' },
  request_timeout: { status: 408, error: 40800, message: 'The request took too long to arrive.' },
  header_too_large: { status: 431, error: 43100, message: 'The request header is too large or has too many fields.' },
  internal: { status: 500, error: 50000, message: 'The server has failed.' },
  saturated: { status: 503, error: 50300, message: 'Too much work is waiting. Try again shortly.' },
  storage_unavailable: { status: 503, error: 50300, message: 'The storage failed. Try again shortly.' },
  storage_unsupported: {
    status: 500,
    error: 50001,
    message: 'The storage does not contain a plant store of this version.',
  },
  closed: { status: 503, error: 50300, message: 'The store is closed.' },
} as const;

/** The codes that only HTTP responses use. The library never throws an error with one of these codes. */
export type HttpErrorCode =
  | 'invalid_json'
  | 'invalid_media_type'
  | 'body_too_large'
  | 'malformed_request'
  | 'missing_credentials'
  | 'invalid_token'
  | 'insufficient_scope'
  | 'route_not_found'
  | 'plant_not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'header_too_large'
  | 'internal';

/**
 * The codes that a {@link PlantStoreError} can have. To distinguish errors, compare their codes, not their messages.
 */
export type ErrorCode = Exclude<keyof typeof errorTable, HttpErrorCode>;

/**
 * An error that the library throws. The message never contains a secret. If a PlantStore method rejects with this
 * error, the message can be sent to a client, because details about the machine, such as paths, are only in `cause`.
 *
 * @example
 * try {
 *   await store.createPlant('ada', { id: 7, name: 'Fern' });
 * } catch (error) {
 *   if (!(error instanceof PlantStoreError) || error.code !== 'id_taken') throw error;
 * }
 */
export class PlantStoreError extends Error {
  /** The name of the class. */
  override readonly name = 'PlantStoreError';
  /** The error code, a key of {@link errorTable}. */
  readonly code: ErrorCode;

  /** Creates an error. By default, the message is the code's default message from {@link errorTable}. */
  constructor(code: ErrorCode, message: string = errorTable[code].message, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * Converts an error from a storage adapter to a PlantStoreError. Returns a PlantStoreError unchanged. Any other error
 * becomes the `cause` of a new PlantStoreError with code `storage_unavailable`.
 */
export function asStorageError(error: unknown): PlantStoreError {
  return error instanceof PlantStoreError
    ? error
    : new PlantStoreError('storage_unavailable', undefined, { cause: error });
}
