import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Starts a server and resolves with its URL. */
export async function listen(server: Server, { host, port }: { host: string; port: number }): Promise<string> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new Error(`${(cause as Error).message}. Choose another host or port.`, { cause });
  }
  const { port: listening } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${listening}`;
}

/** Returns a URL with which programs on this machine can reach a server, even if it listens on all addresses. */
export function reachableUrl(url: string): string {
  return url.replace(/^http:\/\/(?:0\.0\.0\.0|\[::\]):/, 'http://localhost:');
}
