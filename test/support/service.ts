import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import type { StorageAdapter } from '../../src/index.ts';
import { createPlantServer } from '../../src/http.ts';
import type { Authenticate, ServiceOptions } from '../../src/http.ts';
import { assertDescribed } from './described.ts';
import type { HasAfter } from './temporary-folder.ts';

/** A request for {@link Service.call}. */
export interface Call {
  /** Sent as `Authorization: Bearer …`; default `ada`; `null` sends no such header. */
  readonly token?: string | null;
  /** A text is sent as it is; default Content-Type `application/json`. */
  readonly body?: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

/** What a call was answered. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; `undefined` where it is empty. */
  readonly json: unknown;
}

/** A service on a port of its own. */
export interface Service {
  readonly url: string;
  readonly port: number;
  readonly store: PlantStore;
  /** The errors that were reported to `onError`. */
  readonly faults: unknown[];
  /** Makes a request and asserts that the answer is in the OpenAPI document. */
  readonly call: (method: string, target: string, call?: Call) => Promise<Answered>;
}

/** A token is the user's name; `ada-reads` and `ada-writes` are held to one scope. */
export const authenticateByName: Authenticate = (token) => {
  if (token === 'ada-reads') return { user: 'ada', scopes: ['plants:read'] };
  if (token === 'ada-writes') return { user: 'ada', scopes: ['plants:write'] };
  return ['ada', 'bob', 'eve'].includes(token) ? { user: token } : null;
};

/** Starts a service; it is stopped after the test. */
export async function startService(
  t: HasAfter,
  options: Partial<ServiceOptions> & { storage?: StorageAdapter; store?: PlantStore } = {},
): Promise<Service> {
  const { storage = new MemoryStorage(), store = new PlantStore({ storage }), ...listenerOptions } = options;
  const faults: unknown[] = [];
  const server = createPlantServer(store, {
    authenticate: authenticateByName,
    onError: (error) => faults.push(error),
    ...listenerOptions,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    server.close();
    server.closeAllConnections();
    await store.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return { url, port, store, faults, call: (method, target, call) => callService(url, method, target, call) };
}

async function callService(url: string, method: string, target: string, call: Call = {}): Promise<Answered> {
  const { token = 'ada', body, headers = {} } = call;
  const response = await fetch(url + target, {
    method,
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
  const answered = { status: response.status, headers: response.headers, text: await response.text() };
  assertDescribed(method, target, answered);
  return { ...answered, json: answered.text === '' ? undefined : JSON.parse(answered.text) };
}
