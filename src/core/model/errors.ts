/** An error code, a key of {@link errorTable}. To distinguish errors, compare their codes, not their messages. */
export type ErrorCode =
  | 'invalid_json'
  | 'invalid_plant'
  | 'id_taken'
  | 'invalid_id'
  | 'invalid_limit'
  | 'invalid_after'
  | 'invalid_media_type'
  | 'body_too_large'
  | 'malformed_request'
  | 'invalid_user'
  | 'missing_credentials'
  | 'invalid_token'
  | 'insufficient_scope'
  | 'route_not_found'
  | 'plant_not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'header_too_large'
  | 'internal'
  | 'saturated'
  | 'storage_unavailable'
  | 'storage_unsupported'
  | 'closed';

/** A row of {@link errorTable}. */
export interface ErrorRow {
  /** The HTTP status of the response. */
  readonly status: number;
  /** The value of `error` in the body of the response: status × 100 + n. It never changes. */
  readonly integer: number;
  /** The default message. */
  readonly message: string;
}

/** The status, the integer and the default message of each error code. */
export const errorTable: Readonly<Record<ErrorCode, ErrorRow>> = {
  invalid_json: { status: 400, integer: 40001, message: 'The body is not JSON in UTF-8.' },
  invalid_plant: { status: 400, integer: 40002, message: 'The body is not a NewPlant.' },
  id_taken: { status: 400, integer: 40003, message: 'You already have a plant with this id.' },
  invalid_id: { status: 400, integer: 40004, message: 'The id must be a decimal integer from -2^63 to 2^63-1.' },
  invalid_limit: { status: 400, integer: 40005, message: 'limit must be one decimal integer from 0 to 2147483647.' },
  invalid_after: { status: 400, integer: 40006, message: 'after must be one decimal integer from -2^63 to 2^63-1.' },
  invalid_media_type: {
    status: 400,
    integer: 40007,
    message: 'Send Content-Type: application/json, in UTF-8 and without a Content-Encoding.',
  },
  body_too_large: { status: 400, integer: 40008, message: 'The body is too large.' },
  malformed_request: { status: 400, integer: 40009, message: 'The request is not well-formed HTTP.' },
  invalid_user: {
    status: 400,
    integer: 40010,
    message: 'user must be a string of 1 to 255 bytes of UTF-8, without U+0000 and without unpaired surrogates.',
  },
  missing_credentials: { status: 401, integer: 40101, message: 'An "Authorization: Bearer" header is required.' },
  invalid_token: {
    status: 401,
    integer: 40102,
    message: 'The bearer token is malformed, unknown, expired or revoked.',
  },
  insufficient_scope: { status: 403, integer: 40300, message: 'The token lacks the scope this operation needs.' },
  route_not_found: { status: 404, integer: 40401, message: 'There is nothing at this path.' },
  plant_not_found: { status: 404, integer: 40402, message: 'You have no plant with this id.' },
  method_not_allowed: { status: 405, integer: 40500, message: 'This path does not support this method.' },
  request_timeout: { status: 408, integer: 40800, message: 'The request took too long to arrive.' },
  header_too_large: { status: 431, integer: 43100, message: 'The request header is too large or has too many fields.' },
  internal: { status: 500, integer: 50000, message: 'The server has failed.' },
  saturated: { status: 503, integer: 50300, message: 'Too much work is waiting. Try again shortly.' },
  storage_unavailable: { status: 503, integer: 50301, message: 'The storage failed. Try again shortly.' },
  storage_unsupported: {
    status: 500,
    integer: 50001,
    message: 'The storage does not contain a plant store of this version.',
  },
  closed: { status: 503, integer: 50302, message: 'The store is closed.' },
};

/**
 * An error that the library throws. The message never contains a secret. If a PlantStore method rejects with this
 * error, the message can be sent to a client, because details about the machine, such as paths, are only in `cause`.
 *
 * @example
 * try {
 *   await store.createPlant('ada', { id: 7, name: 'Fern' });
 * } catch (error) {
 *   if (!isPlantStoreError(error) || error.code !== 'id_taken') throw error;
 * }
 */
export class PlantStoreError extends Error {
  /** The name of the class. */
  override readonly name = 'PlantStoreError';
  /** The kind of the error. Programs should compare the code, not the message. */
  readonly code: ErrorCode;
  /** The HTTP status of the code in {@link errorTable}. The error handlers of Express and Fastify respond with it. */
  readonly status: number;

  /** Creates an error. By default, the message is the code's default message from {@link errorTable}. */
  constructor(code: ErrorCode, message: string = errorTable[code].message, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.status = errorTable[code].status;
  }
}

/**
 * Returns whether a value is a {@link PlantStoreError}. Unlike `instanceof`, recognizes an error from another copy of
 * the package. Never throws.
 */
export function isPlantStoreError(error: unknown): error is PlantStoreError {
  try {
    const { name, code } = (error ?? {}) as Partial<PlantStoreError>;
    return name === 'PlantStoreError' && typeof code === 'string' && Object.hasOwn(errorTable, code);
  } catch {
    // An application can throw any object, even one whose properties cannot be read.
    return false;
  }
}

export function asStorageError(error: unknown): PlantStoreError {
  return isPlantStoreError(error) ? error : new PlantStoreError('storage_unavailable', undefined, { cause: error });
}
