import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { variableOf } from './environment.ts';

/** The address that a server listens on, as specified by the user. */
export interface ListenAddress {
  /** An IP address or a host name. */
  readonly host: string;
  /** A port number; 0 selects a free port. */
  readonly port: number;
}

/**
 * Starts a server on an address and resolves with the server's URL. `prefix` is the prefix of the flags `--host` and
 * `--port` in error messages.
 *
 * @throws {Error} if the server cannot listen on this address. The message says what to change.
 */
export async function listen(server: Server, address: ListenAddress, prefix: '' | 'admin-' = ''): Promise<string> {
  const { host } = address;
  server.listen(address.port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const byPort = `with --${prefix}port or ${variableOf(`${prefix}port`)}.`;
    const byHost = `with --${prefix}host or ${variableOf(`${prefix}host`)}.`;
    const unknownHost = `The host name ${host} cannot be resolved. Choose another name or an address ${byHost}`;
    const message = new Map([
      ['EADDRINUSE', `Port ${address.port} of ${host} is in use. Choose another port ${byPort}`],
      ['EACCES', `This user may not listen on port ${address.port}. Choose a port from 1024 ${byPort}`],
      ['EADDRNOTAVAIL', `This machine does not have the address ${host}. Choose another address ${byHost}`],
      ['ENOTFOUND', unknownHost],
      ['EAI_AGAIN', unknownHost],
    ]).get((error as NodeJS.ErrnoException).code ?? '');
    throw message === undefined ? error : new Error(message, { cause: error });
  }
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * Returns a URL at which programs on this machine can reach the server. If the server listens on all addresses, the
 * URL's host is `localhost`.
 */
export function reachableUrl(url: string): string {
  return url.replace(/^http:\/\/(?:0\.0\.0\.0|\[::\]):/, 'http://localhost:');
}
