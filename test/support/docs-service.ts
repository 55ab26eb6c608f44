import { createDocs } from '../../src/cli/docs.ts';
import type { ServiceOptions } from '../../src/http.ts';
import { createRequestListener } from '../../src/http/node/listener.ts';
import { createServerFor } from '../../src/http/node/server.ts';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import { listen } from './listen.ts';
import { authenticateByName } from './service.ts';
import type { HasAfter } from './temporary-folder.ts';

/**
 * Starts a service with the page that `serve --docs` adds, and returns the port. The service is stopped after the test.
 */
export async function startDocsService(t: HasAfter, options: Partial<ServiceOptions> = {}): Promise<number> {
  const store = new PlantStore({ storage: new MemoryStorage() });
  const addDocs = createDocs('--docs', options.basePath ?? '');
  const listener = createRequestListener(store, { authenticate: authenticateByName, ...options });
  t.after(() => store.close());
  return listen(t, createServerFor(addDocs(listener)));
}
