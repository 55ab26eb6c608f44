import { MemoryStorage, PlantStore } from '../../src/index.ts';
import type { StorageAdapter } from '../../src/index.ts';
import { createFetchHandler } from '../../src/fetch.ts';
import { createPlantServer, createRequestListener } from '../../src/http.ts';
import type { Caller, ServiceOptions } from '../../src/http.ts';
import { callService } from './call.ts';
import type { Answered, Call } from './call.ts';
import { listen } from './listen.ts';
import type { HasAfter } from './temporary-folder.ts';

export type Service = Awaited<ReturnType<typeof startService>>;

export type StartOptions = Partial<ServiceOptions> & { storage?: StorageAdapter; store?: PlantStore };

/** Accepts a user name as the token. `ada-reads` and `ada-writes` are tokens of ada with one scope each. */
const authenticateByName = (token: string): Caller | null => {
  if (token === 'ada-reads') return { user: 'ada', scopes: ['plants:read'] };
  if (token === 'ada-writes') return { user: 'ada', scopes: ['plants:write'] };
  return ['ada', 'bob', 'eve'].includes(token) ? { user: token } : null;
};

/** Creates a store, by default over a new MemoryStorage, and service options. The store is closed after the test. */
function createParts(t: HasAfter, options: StartOptions) {
  const { storage = new MemoryStorage(), store = new PlantStore({ storage }), ...rest } = options;
  t.after(() => store.close());
  /** The errors that were reported to `onError`. */
  const faults: unknown[] = [];
  const onError = (error: unknown): void => void faults.push(error);
  return { store, faults, serviceOptions: { authenticate: authenticateByName, onError, ...rest } };
}

function clientOf(url: string, send: (request: Request) => Promise<Response>) {
  const call = (method: string, target: string, given?: Call): Promise<Answered> =>
    callService(url, method, target, given, send);
  return { url, send, call };
}

/** Creates a listener to mount, by default over a new MemoryStorage. */
export function createListener(t: HasAfter, options: StartOptions = {}) {
  const { store, faults, serviceOptions } = createParts(t, options);
  return { store, faults, listener: createRequestListener(store, serviceOptions) };
}

/** Starts a service, by default over a new MemoryStorage. The service is stopped after the test. */
export async function startService(t: HasAfter, options: StartOptions = {}) {
  const { store, faults, serviceOptions } = createParts(t, options);
  const server = createPlantServer(store, serviceOptions);
  const port = await listen(t, server);
  return { store, faults, server, port, ...clientOf(`http://127.0.0.1:${port}`, fetch) };
}

/** Creates a service over `createFetchHandler`, by default over a new MemoryStorage. It does not use the network. */
export function createFetchService(t: HasAfter, options: StartOptions = {}) {
  const { store, faults, serviceOptions } = createParts(t, options);
  return { store, faults, ...clientOf('http://plants.test', createFetchHandler(store, serviceOptions)) };
}

/** A service over node:http or fetch. */
type AnyService = ReturnType<typeof createFetchService>;

/** Functions that start a service, by the name of its front. */
export const fronts: Readonly<Record<string, (t: HasAfter, options?: StartOptions) => Promise<AnyService>>> = {
  'node:http': startService,
  fetch: (t, options) => Promise.resolve(createFetchService(t, options)),
};
