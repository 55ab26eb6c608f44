import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { variableOf } from './environment.ts';

/**
 * Starts a server on a host and a port and resolves with the server's URL. The port 0 selects a free port. `prefix` is
 * the prefix of the flags `--host` and `--port` in error messages.
 *
 * @throws {Error} if the server cannot listen on this address. The message says what to change.
 */
export async function listen(
  server: Server,
  { host, port }: { host: string; port: number },
  prefix: '' | 'admin-' = '',
): Promise<string> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const byPort = `with --${prefix}port or ${variableOf(`${prefix}port`)}.`;
    const byHost = `with --${prefix}host or ${variableOf(`${prefix}host`)}.`;
    const unknownHost = `The host name ${host} cannot be resolved. Choose another name or an address ${byHost}`;
    const message = new Map([
      ['EADDRINUSE', `Port ${port} of ${host} is in use. Choose another port ${byPort}`],
      ['EACCES', `This user may not listen on port ${port}. Choose a port from 1024 ${byPort}`],
      ['EADDRNOTAVAIL', `This machine does not have the address ${host}. Choose another address ${byHost}`],
      ['ENOTFOUND', unknownHost],
      ['EAI_AGAIN', unknownHost],
    ]).get((error as NodeJS.ErrnoException).code ?? '');
    throw message === undefined ? error : new Error(message, { cause: error });
  }
  const address = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

/**
 * Returns a URL at which programs on this machine can reach the server. If the server listens on all addresses, the
 * URL's host is `localhost`.
 */
export function reachableUrl(url: string): string {
  return url.replace(/^http:\/\/(?:0\.0\.0\.0|\[::\]):/, 'http://localhost:');
}
