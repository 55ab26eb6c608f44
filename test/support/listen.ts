import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import type { HasAfter } from './temporary-folder.ts';

/** Makes a server listen on a free port, and returns the port. The server is closed after the test. */
export async function listen(t: HasAfter, server: Server, host = '127.0.0.1'): Promise<number> {
  server.listen(0, host);
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

/** Returns a port of `host` on which no process listens. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts a server that accepts connections but never responds, and returns its port. */
export function occupyPort(t: HasAfter, host?: string): Promise<number> {
  return listen(t, createServer(), host);
}
