import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The address that a server listens on, as specified by the user. */
export interface ListenAddress {
  /** An IP address or a host name. */
  readonly host: string;
  /** A port number; 0 selects a free port. */
  readonly port: number;
}

/** The names of the flags and environment variables that set an address, for use in error messages. */
export interface AddressSettings {
  readonly port: string;
  readonly host: string;
}

const publicSettings: AddressSettings = { port: '--port or PORT', host: '--host or HOST' };

/**
 * Starts a server on an address. Resolves with the URL of the server.
 *
 * @throws {Error} if the server cannot listen on this address. The message says what to change.
 */
export async function listen(
  server: Server,
  address: ListenAddress,
  settings: AddressSettings = publicSettings,
): Promise<string> {
  server.listen(address.port, address.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw listenError(error as NodeJS.ErrnoException, address, settings);
  }
  const { port } = server.address() as AddressInfo;
  return `http://${address.host.includes(':') ? `[${address.host}]` : address.host}:${port}`;
}

/**
 * Returns a URL that reaches the server from this machine. If the server listens on all addresses, the host of the URL
 * is `localhost`.
 */
export function reachableUrl(url: string): string {
  return url.replace(/^http:\/\/(?:0\.0\.0\.0|\[::\]):/, 'http://localhost:');
}

function listenError(error: NodeJS.ErrnoException, address: ListenAddress, settings: AddressSettings): Error {
  const message = listenMessage(error.code, address, settings);
  return message === undefined ? error : new Error(message, { cause: error });
}

function listenMessage(
  code: string | undefined,
  { host, port }: ListenAddress,
  settings: AddressSettings,
): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} of ${host} is in use. Choose another port with ${settings.port}.`;
    case 'EACCES':
      return `This user may not listen on port ${port}. Choose a port from 1024 with ${settings.port}.`;
    case 'EADDRNOTAVAIL':
      return `This machine does not have the address ${host}. Choose another address with ${settings.host}.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host name ${host} cannot be resolved. Choose another name or an address with ${settings.host}.`;
    default:
      return undefined;
  }
}
