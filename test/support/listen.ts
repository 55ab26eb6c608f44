import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import type { HasAfter } from './temporary-folder.ts';

/** Makes a server listen on a free port, and returns the port. The server is closed after the test. */
export async function listen(t: HasAfter, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    if (server instanceof HttpServer) server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** Makes a server listen on a free port, and returns its URL. The server is closed after the test. */
export async function listenUrl(t: HasAfter, server: Server): Promise<string> {
  return `http://127.0.0.1:${await listen(t, server)}`;
}

/**
 * Returns a port on which no process listens. The port is less than 32768, because Linux and macOS give larger ones to
 * connections and to servers that listen on port 0, possibly before the caller uses the port.
 */
export async function freePort(): Promise<number> {
  const port = 20_000 + Math.floor(Math.random() * 12_000);
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return freePort();
  }
  server.close();
  await once(server, 'close');
  return port;
}
