/** A row of {@link errorTable}. */
export interface ErrorRow {
  /** The HTTP status of the response. */
  readonly status: number;
  /** The value of `error` in the body of the response: status × 100 + n. It never changes. */
  readonly integer: number;
  /** The default message. */
  readonly message: string;
}

/** An error code, a key of {@link errorTable}. To distinguish errors, compare their codes, not their messages. */
export type ErrorCode =
  /** The body is not JSON in UTF-8. */
  | 'invalid_json'
  /** The body, or the argument of `createPlant`, is not a NewPlant; the message says why. */
  | 'invalid_plant'
  /** The user already has a plant with this id. */
  | 'id_taken'
  /** The id is not an int64. */
  | 'invalid_id'
  /** `limit` is not an integer from 0 to 2147483647. */
  | 'invalid_limit'
  /** `after` is not an int64. */
  | 'invalid_after'
  /** The headers do not declare the body as uncompressed JSON in UTF-8. */
  | 'invalid_media_type'
  /** The body is larger than `maxBodyBytes`. */
  | 'body_too_large'
  /** The request is not well-formed HTTP. */
  | 'malformed_request'
  /** The user is not a string of 1 to 255 bytes of UTF-8, or contains U+0000 or an unpaired surrogate. */
  | 'invalid_user'
  /** The request has no bearer token. */
  | 'missing_credentials'
  /** The token is malformed, unknown, expired or revoked. */
  | 'invalid_token'
  /** The token lacks the scope of the operation. */
  | 'insufficient_scope'
  /** The application refuses the operation. The package itself never throws this error. */
  | 'forbidden'
  /** No operation has this path. */
  | 'route_not_found'
  /** The user has no plant with this id. */
  | 'plant_not_found'
  /** The path does not support this method. */
  | 'method_not_allowed'
  /** The request did not arrive completely in time. */
  | 'request_timeout'
  /** The header is too large or has too many fields. */
  | 'header_too_large'
  /** An unexpected error occurred. */
  | 'internal'
  /** The database or file is not a plant store, or belongs to another version of the package. */
  | 'storage_unsupported'
  /** Too many requests or writes are pending. Nothing was done, so the operation can be repeated. */
  | 'saturated'
  /** The storage failed. If it failed during a write, the outcome of the write is unknown. */
  | 'storage_unavailable'
  /** The store is closed. Nothing was done. */
  | 'closed';

function row(integer: number, message: string): ErrorRow {
  return Object.freeze({ status: Math.floor(integer / 100), integer, message });
}

/** The status, the integer and the default message of each error code. */
export const errorTable: Readonly<Record<ErrorCode, ErrorRow>> = Object.freeze({
  invalid_json: row(40001, 'The body is not JSON in UTF-8.'),
  invalid_plant: row(40002, 'The body is not a NewPlant.'),
  id_taken: row(40003, 'You already have a plant with this id.'),
  invalid_id: row(40004, 'The id must be a decimal integer from -2^63 to 2^63-1.'),
  invalid_limit: row(40005, 'limit must be one decimal integer from 0 to 2147483647.'),
  invalid_after: row(40006, 'after must be one decimal integer from -2^63 to 2^63-1.'),
  invalid_media_type: row(40007, 'Send Content-Type: application/json, in UTF-8 and without a Content-Encoding.'),
  body_too_large: row(40008, 'The body is too large.'),
  malformed_request: row(40009, 'The request is not well-formed HTTP.'),
  invalid_user: row(
    40010,
    'user must be a string of 1 to 255 bytes of UTF-8, without U+0000 and without unpaired surrogates.',
  ),
  missing_credentials: row(40101, 'An "Authorization: Bearer" header is required.'),
  invalid_token: row(40102, 'The bearer token is malformed, unknown, expired or revoked.'),
  insufficient_scope: row(40300, 'The token lacks the scope this operation needs.'),
  forbidden: row(40301, 'You may not do this.'),
  route_not_found: row(40401, 'There is nothing at this path.'),
  plant_not_found: row(40402, 'You have no plant with this id.'),
  method_not_allowed: row(40500, 'This path does not support this method.'),
  request_timeout: row(40800, 'The request took too long to arrive.'),
  header_too_large: row(43100, 'The request header is too large or has too many fields.'),
  internal: row(50000, 'An unexpected error occurred.'),
  storage_unsupported: row(50001, 'The storage does not contain a plant store of this version.'),
  saturated: row(50300, 'Too many requests or writes are pending. Try again shortly.'),
  storage_unavailable: row(50301, 'The storage failed. Try again shortly.'),
  closed: row(50302, 'The store is closed.'),
});

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

/** Reports that the storage does not contain a plant store yet. It can be the cause of `storage_unsupported`. */
export class NoStoreError extends Error {}

/**
 * Returns whether a value is a {@link PlantStoreError}. Unlike `instanceof`, recognizes an error from another copy of
 * the package. Never throws.
 */
export function isPlantStoreError(error: unknown): error is PlantStoreError {
  try {
    const { name, code, message } = (error ?? {}) as Partial<PlantStoreError>;
    const isText = typeof code === 'string' && typeof message === 'string';
    return name === 'PlantStoreError' && isText && Object.hasOwn(errorTable, code);
  } catch {
    // An application can throw any object, even one whose properties cannot be read.
    return false;
  }
}

export function asStorageError(error: unknown): PlantStoreError {
  return isPlantStoreError(error) ? error : new PlantStoreError('storage_unavailable', undefined, { cause: error });
}
