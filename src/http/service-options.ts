import type { Authenticate } from '../model/caller.ts';
import { errorText } from '../model/error-text.ts';
import { checkFunctionOption, checkIntegerOption, checkOptionNames } from '../model/options.ts';
import type { PlantStore } from '../store/plant-store.ts';
import { checkBasePath } from './base-path.ts';

/** How the service works over HTTP, whatever the server. */
export interface ServiceOptions {
  /** Returns the caller that a bearer token stands for. It is required: no server is open by accident. */
  authenticate: Authenticate;
  /** The most bytes a request body may have, 1 or more; default 65536. Over it: `body_too_large`. */
  maxBodyBytes?: number;
  /** How many levels a request body may nest, 1 or more; default 256. Over it: `invalid_json`. */
  maxBodyDepth?: number;
  /**
   * How many requests the store may be working on at once, 1 or more; default 1000. One more is
   * refused at once: `saturated`. Requests that are still being received, and lists after their
   * first page, do not count. One user may take up three quarters of it. Ten times as many pipelined requests may wait.
   */
  maxInFlight?: number;
  /**
   * How many ids the lists with a limit over 1000 that are being sent may hold together, 8 bytes
   * each, 1 or more; default 8388608. One user may hold a quarter of it. A further such list is refused: `saturated`.
   */
  maxHeldIds?: number;
  /**
   * How many bytes may be ready for clients that do not take them, 1 or more; default 67108864. One user may take up
   * a quarter of it. Past either, the slowest connections are closed, and new lists are refused: `saturated`.
   */
  maxUnsentBytes?: number;
  /**
   * The path that a proxy in front of this server removes from each request, such as `/garden`. `Link` headers and the
   * OpenAPI document begin with it. Default: none. A mount path that a framework reports in `request.baseUrl`
   * (Express does) is added by itself.
   */
  basePath?: string;
  /**
   * Gets every error for which the client gets a bare 500 or 503, and every error in the middle of a list. It must not
   * throw. Default: writes the error, the method and the path to standard error.
   */
  onError?: (error: unknown, request: FailedRequest) => void;
}

/** What `onError` learns of a request: nothing that a client could have put a secret into. */
export interface FailedRequest {
  /** The method, such as `POST`. */
  readonly method: string;
  /** The path as the OpenAPI document has it, such as `/plants/{id}`; empty if it is not in the document. */
  readonly path: string;
}

const optionNames = {
  authenticate: true,
  maxBodyBytes: true,
  maxBodyDepth: true,
  maxInFlight: true,
  maxHeldIds: true,
  maxUnsentBytes: true,
  basePath: true,
  onError: true,
} as const satisfies Record<keyof ServiceOptions, true>;

/**
 * Checks options and fills in the defaults. `owner` is the name of the public function, for error messages.
 *
 * @throws {TypeError} for a wrong option, which it names.
 */
export function parseServiceOptions(owner: string, store: unknown, options: ServiceOptions): Required<ServiceOptions> {
  if (typeof (store as Partial<PlantStore> | null | undefined)?.createPlant !== 'function') {
    throw new TypeError('store must be a PlantStore');
  }
  checkOptionNames(owner, options, optionNames);
  const {
    authenticate,
    maxBodyBytes = 65_536,
    maxBodyDepth = 256,
    maxInFlight = 1000,
    maxHeldIds = 8_388_608,
    maxUnsentBytes = 67_108_864,
    basePath = '',
    onError = printError,
  } = options;
  const integers = { maxBodyBytes, maxBodyDepth, maxInFlight, maxHeldIds, maxUnsentBytes };
  checkFunctionOption('authenticate', authenticate);
  checkFunctionOption('onError', onError);
  for (const [name, value] of Object.entries(integers)) checkIntegerOption(name, value, 1);
  checkBasePath(basePath);
  return { authenticate, ...integers, basePath, onError };
}

/** The default of `onError`. */
export function printError(error: unknown, { method, path }: FailedRequest): void {
  console.error(`${method} ${path} failed: ${errorText(error)}`);
}
