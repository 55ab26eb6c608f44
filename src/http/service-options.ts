import type { Authenticate } from '../model/caller.ts';
import { errorText } from '../model/error-text.ts';
import { checkFunctionOption, checkIntegerOption, checkOptionNames } from '../model/options.ts';
import { PlantStore } from '../store/plant-store.ts';
import { checkBasePath } from './base-path.ts';
import { parseCorsOrigin } from './cors.ts';

/** Options of the HTTP service, for any server. */
export interface ServiceOptions {
  /** Returns the caller that a bearer token identifies. Required, so that no server is open by accident. */
  authenticate: Authenticate;
  /** The maximum size of a request body in bytes, 1 or more; default 65536. Larger bodies: `body_too_large`. */
  maxBodyBytes?: number;
  /**
   * How many requests the store may be working on at once, 1 or more; default 1000. Further requests are
   * refused immediately with `saturated`. Requests that are still being received, and lists after their first
   * page, do not count. One user may use three quarters of the total. Ten times as many pipelined requests may wait.
   */
  maxInFlight?: number;
  /**
   * How many bytes may be buffered for clients that have not read them, 1 or more; default 67108864, of which one user
   * may use a quarter. At either limit, the slowest connections are closed and new lists are refused with `saturated`.
   */
  maxUnsentBytes?: number;
  /**
   * The path prefix under which clients reach the service, such as `/garden`. Paths in `Link` headers and the OpenAPI
   * document begin with it. A proxy or framework may remove the prefix from requests or pass it on. Default: none. A
   * mount path that a framework such as Express reports in `request.baseUrl` is added automatically.
   */
  basePath?: string;
  /**
   * The origins whose web pages may call the service (CORS): `*` for all, or one or more origins such as
   * `https://app.example.com`. Default: none.
   */
  corsOrigin?: string | readonly string[];
  /**
   * Called with every error for which the client gets a generic 500 or 503, and every error in the middle of a list.
   * Must not throw. Default: writes the error, the method and the path to standard error.
   */
  onError?: (error: unknown, request: FailedRequest) => void;
}

/** The request data for `onError`. It contains nothing in which a client could have put a secret. */
export interface FailedRequest {
  /** The method, such as `POST`. */
  readonly method: string;
  /** The path in the OpenAPI document, such as `/plants/{id}`; empty if the document does not contain it. */
  readonly path: string;
}

const optionNames = {
  authenticate: true,
  maxBodyBytes: true,
  maxInFlight: true,
  maxUnsentBytes: true,
  basePath: true,
  corsOrigin: true,
  onError: true,
} as const satisfies Record<keyof ServiceOptions, true>;

/**
 * Checks options and fills in the defaults. `owner` is the name of the public function, for error messages.
 *
 * @throws {TypeError} if an option is invalid; the message names it.
 */
export function parseServiceOptions(
  owner: string,
  store: unknown,
  options: ServiceOptions,
): Required<ServiceOptions> & { readonly corsOrigin: readonly string[] } {
  if (!(store instanceof PlantStore)) throw new TypeError('store must be a PlantStore');
  checkOptionNames(owner, options, optionNames);
  const {
    authenticate,
    maxBodyBytes = 65_536,
    maxInFlight = 1000,
    maxUnsentBytes = 67_108_864,
    basePath = '',
    corsOrigin = [],
    onError = printError,
  } = options;
  const integers = { maxBodyBytes, maxInFlight, maxUnsentBytes };
  checkFunctionOption('authenticate', authenticate);
  checkFunctionOption('onError', onError);
  for (const [name, value] of Object.entries(integers)) checkIntegerOption(name, value, 1);
  checkBasePath(basePath);
  return { authenticate, ...integers, basePath, corsOrigin: parseCorsOrigin(corsOrigin), onError };
}

/** Writes an error to standard error. This is the default for `onError`. */
export function printError(error: unknown, { method, path }: FailedRequest): void {
  console.error(`${method} ${path} failed: ${errorText(error)}`);
}
