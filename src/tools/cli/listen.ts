import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Starts a server on a host and a port and resolves with the server's URL. `prefix` is the prefix of the flags `--host`
 * and `--port` in error messages.
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
    const message = new Map([
      ['EADDRINUSE', `Port ${port} of ${host} is in use. Choose another one with --${prefix}port.`],
      ['EACCES', `This user may not listen on port ${port}. Choose one from 1024 with --${prefix}port.`],
      ['EADDRNOTAVAIL', `This machine does not have the address ${host}. Choose another one with --${prefix}host.`],
    ]).get((error as NodeJS.ErrnoException).code ?? '');
    const unusable = `The host name ${host} cannot be used. Choose another one with --${prefix}host.`;
    throw new Error(message ?? unusable, { cause: error });
  }
  const address = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

/** Returns a URL with which programs on this machine can reach a server, even if it listens on all addresses. */
export function reachableUrl(url: string): string {
  return url.replace(/^http:\/\/(?:0\.0\.0\.0|\[::\]):/, 'http://localhost:');
}
