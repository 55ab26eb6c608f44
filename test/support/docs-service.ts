import { createDocs } from '../../src/cli/docs.ts';
import { createServerFor } from '../../src/http/node/server.ts';
import { listenUrl } from './listen.ts';
import { createListener } from './service.ts';
import type { HasAfter } from './temporary-folder.ts';

/** Starts a service under /garden with the page that `serve --docs` adds, and returns the URL without /garden. */
export function startDocsService(t: HasAfter): Promise<string> {
  const addDocs = createDocs('--docs', '/garden');
  return listenUrl(t, createServerFor(addDocs(createListener(t, { basePath: '/garden' }).listener)));
}
