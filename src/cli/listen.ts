import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { UsageError } from './command-line.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
  /** The names of the flags that set the address. */
  readonly flags: string;
}

/** Codes of errors that another attempt cannot avoid. Another program may release a port that is in use. */
const wrongAddressCodes = new Set(['EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND']);

export async function listen(server: Server, { host, port, flags }: Address): Promise<string> {
  // URLs contain the brackets.
  const name = host.replace(/^\[(.*)\]$/, '$1');
  server.listen(port, name);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    const Kind = wrongAddressCodes.has(code) ? UsageError : Error;
    throw new Kind(`${message}. Change ${flags}.`, { cause });
  }
  const { port: listening } = server.address() as AddressInfo;
  return `http://${name.includes(':') ? `[${name}]` : name}:${listening}`;
}

/** Returns a URL with which programs on this machine can reach a server, even if it listens on all addresses. */
export function reachableUrl(url: string): string {
  return url.replace(/^http:\/\/(?:0\.0\.0\.0|\[::\]):/, 'http://localhost:');
}
