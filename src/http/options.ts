import type { Authenticate } from '../boundary/caller.ts';
import { errorText } from '../boundary/error-text.ts';
import { checkFunctionOption, checkIntegerOption, checkMethods, checkOptionNames } from '../boundary/options.ts';
import type { NewPlant, Plant, PlantId } from '../core/model/plant.ts';
import type { JsonPage } from '../core/page.ts';
import type { ListOptions } from '../core/plant-store.ts';
import { parseCorsOrigin } from './cors.ts';
import { checkBasePath } from './routes.ts';

/**
 * The methods of a `PlantStore` that the service calls. An object that wraps a store, or a store of another copy of the
 * package, can be used in place of a `PlantStore`.
 */
export interface ServiceStore {
  /** Creates a plant, and resolves with the stored plant. */
  createPlant(user: string, newPlant: NewPlant): Promise<Plant>;
  /** Resolves with a page of a user's plants as JSON. */
  listPageJson(user: string, options: ListOptions): Promise<JsonPage>;
  /** Deletes a plant, and resolves with whether the plant existed. */
  deletePlant(user: string, id: PlantId): Promise<boolean>;
}

/**
 * The options of `createRequestListener`, `createPlantServer` and `createFetchHandler`. `Raw` is the type of the
 * request that `authenticate` receives as `raw`.
 */
export interface ServiceOptions<Raw = unknown> {
  /** Returns the caller that a bearer token identifies. Required, so that no service is open by accident. */
  authenticate: Authenticate<Raw>;
  /** The maximum size of a request body in bytes, 1 or more; default 65536. */
  maxBodyBytes?: number | undefined;
  /**
   * The maximum number of requests in progress, 1 or more; default 1000. Each can use the memory of one body and one
   * page of a list (256 KiB). Further requests are refused with `saturated`. Users share the limit fairly: one busy
   * user can use half of it, and two busy users a third each.
   */
  maxInFlight?: number | undefined;
  /**
   * The whole path prefix under which clients reach the service, such as `/garden`. Paths in `Link` headers and in the
   * OpenAPI document begin with it. Requests may arrive with or without it. Default: the part of the path that a
   * framework has removed, if the framework sets `request.originalUrl` or `request.baseUrl`.
   */
  basePath?: string | undefined;
  /** The origins whose pages may call the service: `*`, or origins such as `https://app.example.com`; default: none. */
  corsOrigin?: string | readonly string[] | undefined;
  /**
   * The number of proxies that append their client's address to `X-Forwarded-For`, 0 or more; default 0. With N, the
   * client address in request messages is the Nth from the right in this header.
   */
  trustedProxies?: number | undefined;
  /**
   * Called with each error that causes a 500 or 503 response, except `saturated` and `closed`, and with each error that
   * interrupts a list. The default function writes the error, the method and the path to standard error. If this
   * function throws, the default function is called too.
   */
  onError?: ((error: unknown, request: FailedRequest) => void) | undefined;
}

/**
 * What `onError` receives about a request. Parts of the request that could contain a secret are not included. All
 * members are empty if the service was called with something other than a request.
 */
export interface FailedRequest {
  /** The id of the request: the value of the response's `X-Request-Id` header. */
  readonly requestId: string;
  readonly method: string;
  /** The path template in the OpenAPI document, such as `/plants/{id}`; empty if no path in the document matches. */
  readonly path: string;
}

export type AnyOptions = ServiceOptions<never>;

type ParsedOptions = { readonly [Name in keyof AnyOptions]-?: Exclude<AnyOptions[Name], undefined> } & {
  readonly corsOrigin: readonly string[];
};

export function parseServiceOptions(store: unknown, options: AnyOptions): ParsedOptions {
  checkMethods('store', 'a PlantStore', store, ['createPlant', 'listPageJson', 'deletePlant']);
  const names = ['authenticate', 'maxBodyBytes', 'maxInFlight', 'basePath', 'corsOrigin', 'trustedProxies', 'onError'];
  checkOptionNames('the service', options, names);
  const {
    authenticate,
    maxBodyBytes = 65_536,
    maxInFlight = 1000,
    basePath = '',
    corsOrigin = [],
    trustedProxies = 0,
    onError = printError,
  } = options;
  checkFunctionOption('authenticate', authenticate);
  checkFunctionOption('onError', onError);
  checkIntegerOption('maxBodyBytes', maxBodyBytes, 1);
  checkIntegerOption('maxInFlight', maxInFlight, 1);
  checkIntegerOption('trustedProxies', trustedProxies, 0);
  checkBasePath(basePath);
  const origins = parseCorsOrigin(corsOrigin);
  return { authenticate, maxBodyBytes, maxInFlight, basePath, corsOrigin: origins, trustedProxies, onError };
}

export function printError(error: unknown, { method, path }: FailedRequest): void {
  console.error(`${path === '' ? 'A request' : `${method} ${path}`} failed: ${errorText(error)}`);
}
