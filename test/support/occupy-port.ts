import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { HasAfter } from './temporary-folder.ts';

/** A port that something else listens on. */
export async function occupyPort(t: HasAfter, host = '127.0.0.1'): Promise<number> {
  const server = createServer();
  server.listen(0, host);
  await once(server, 'listening');
  t.after(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
