import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Starts a server and resolves with its URL. `prefix` is the prefix of the flags `--host` and `--port` in the message
 * of the error that is thrown if the server cannot listen on this address.
 */
export async function listen(server: Server, { host, port }: Address, prefix: '' | 'admin-' = ''): Promise<string> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new Error(`Cannot listen: choose another --${prefix}port or --${prefix}host`, { cause: error });
  }
  const { port: listening } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${listening}`;
}

/** Returns a URL with which programs on this machine can reach a server, even if it listens on all addresses. */
export function reachableUrl(url: string): string {
  return url.replace(/^http:\/\/(?:0\.0\.0\.0|\[::\]):/, 'http://localhost:');
}
