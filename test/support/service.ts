import type { Server } from 'node:http';
import { describe } from 'node:test';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import type { StorageAdapter } from '../../src/index.ts';
import { createFetchHandler } from '../../src/fetch.ts';
import { createPlantServer } from '../../src/http.ts';
import type { Authenticate, ServiceOptions } from '../../src/http.ts';
import { callService } from './call.ts';
import type { Answered, Call } from './call.ts';
import { heldStorage } from './held-storage.ts';
import type { HeldStorage } from './held-storage.ts';
import { listen } from './listen.ts';
import type { HasAfter } from './temporary-folder.ts';

/** A service in this process, over any front. */
export interface AnyService {
  readonly store: PlantStore;
  /** The errors that were reported to `onError`. */
  readonly faults: unknown[];
  /** The base URL of the requests that {@link send} accepts. */
  readonly url: string;
  /** Sends a request. */
  readonly send: (request: Request) => Promise<Response>;
  /** Sends a request and asserts that the OpenAPI document describes the response. */
  readonly call: (method: string, target: string, call?: Call) => Promise<Answered>;
}

/** A service over node:http, on a port of its own. */
export interface Service extends AnyService {
  readonly server: Server;
  readonly port: number;
}

/** The options of a service, its storage and its store. */
export type StartOptions = Partial<ServiceOptions> & { storage?: StorageAdapter; store?: PlantStore };

/** Accepts the name of a user as the token. `ada-reads` and `ada-writes` are tokens of ada with one scope each. */
export const authenticateByName: Authenticate = (token) => {
  if (token === 'ada-reads') return { user: 'ada', scopes: ['plants:read'] };
  if (token === 'ada-writes') return { user: 'ada', scopes: ['plants:write'] };
  return ['ada', 'bob', 'eve'].includes(token) ? { user: token } : null;
};

/** Starts a service, by default over a new MemoryStorage. It is stopped after the test. */
export async function startService(t: HasAfter, options: StartOptions = {}): Promise<Service> {
  const { storage = new MemoryStorage(), store = new PlantStore({ storage }), ...serviceOptions } = options;
  const faults: unknown[] = [];
  const server = createPlantServer(store, {
    authenticate: authenticateByName,
    onError: (error) => faults.push(error),
    ...serviceOptions,
  });
  const port = await listen(t, server);
  t.after(() => store.close());
  const url = `http://127.0.0.1:${port}`;
  const call: Service['call'] = (method, target, given) => callService(url, method, target, given);
  return { server, store, url, port, faults, send: (request) => fetch(request), call };
}

/** Starts a service whose commits wait until they are released. */
export async function startHeldService(t: HasAfter, options: StartOptions = {}): Promise<Service & HeldStorage> {
  const held = heldStorage();
  return { ...(await startService(t, { storage: held.storage, ...options })), ...held };
}

/** Starts a service that waits at most 100 ms for a request. node:http checks this once a second. */
export async function startImpatientService(t: HasAfter, options: StartOptions = {}): Promise<Service> {
  const service = await startService(t, options);
  Object.assign(service.server, { headersTimeout: 100, requestTimeout: 100 });
  return service;
}

/** Creates a service over `createFetchHandler`, by default over a new MemoryStorage. There is no network. */
async function startFetchService(t: HasAfter, options: StartOptions = {}): Promise<AnyService> {
  const { storage = new MemoryStorage(), store = new PlantStore({ storage }), ...serviceOptions } = options;
  const faults: unknown[] = [];
  const handler = createFetchHandler(store, {
    authenticate: authenticateByName,
    onError: (error) => faults.push(error),
    ...serviceOptions,
  });
  t.after(() => store.close());
  const url = 'http://plants.test';
  const call: AnyService['call'] = (method, target, given) => callService(url, method, target, given, handler);
  return { store, faults, url, send: handler, call };
}

/** Describes what both fronts must do. `body` receives the function that starts a service over one of them. */
export function describeOnBothFronts(
  name: string,
  body: (startService: (t: HasAfter, options?: StartOptions) => Promise<AnyService>) => void,
): void {
  describe(`${name} over node:http`, () => {
    body(startService);
  });
  describe(`${name} over fetch`, () => {
    body(startFetchService);
  });
}

/** Returns the number of connections that a server has open. */
export function countConnections(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => {
      if (error) reject(error);
      else resolve(count);
    });
  });
}
