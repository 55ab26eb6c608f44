import type { ServiceOptions } from '../../../src/fetch.ts';
import { MemoryStorage, PlantStore } from '../../../src/index.ts';
import type { StorageAdapter } from '../../../src/index.ts';
import { createFetchService } from '../../support/service.ts';
import type { AnyService } from '../../support/service.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

/** A fetch handler, its store, and the errors that were reported to `onError`. */
export type Created = Pick<AnyService, 'store' | 'faults'> & { readonly handler: AnyService['send'] };

/** Creates a fetch handler for a storage, with the cache disabled. */
export function createHandler(
  t: HasAfter,
  options: Partial<ServiceOptions> = {},
  storage: StorageAdapter = new MemoryStorage(),
): Created {
  const store = new PlantStore({ storage, maxCacheBytes: 0 });
  const { send, faults } = createFetchService(t, { store, ...options });
  return { handler: send, store, faults };
}

/** Creates a request with an absolute URL. */
export function newRequest(method: string, target: string, init: RequestInit = {}): Request {
  return new Request(`http://plants.test${target}`, { method, ...init });
}

/** Creates a request with which ada creates a plant. `init` does not need `duplex`, even if the body is a stream. */
export function newPost(body: RequestInit['body'], init: RequestInit = {}): Request {
  return newRequest('POST', '/plants', {
    body: body ?? null,
    duplex: 'half',
    ...init,
    headers: { authorization: 'Bearer ada', 'content-type': 'application/json', ...(init.headers as object) },
  });
}
