import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import type { StorageAdapter } from '../../src/index.ts';
import { createPlantServer, drainServer } from '../../src/http.ts';
import type { ServiceOptions } from '../../src/http.ts';
import { authenticateByName } from './service.ts';
import type { HasAfter } from './temporary-folder.ts';

/** Header lines that every request below needs. */
export const head = 'Host: x\r\nAuthorization: Bearer ada\r\n';
/** A POST of a plant, as bytes; `length` is what it claims to be. */
export const post = (body: string, length = body.length): string =>
  `POST /plants HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;

/** A server whose parts the test can get at. */
export interface Started {
  readonly server: Server;
  readonly store: PlantStore;
  readonly port: number;
  readonly faults: unknown[];
}

/** Starts a server; it is stopped after the test. */
export async function start(
  t: HasAfter,
  storage: StorageAdapter = new MemoryStorage(),
  options: Partial<ServiceOptions> = {},
): Promise<Started> {
  const store = new PlantStore({ storage });
  const faults: unknown[] = [];
  const server = createPlantServer(store, {
    authenticate: authenticateByName,
    onError: (error) => faults.push(error),
    ...options,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    if (server.listening) await drainServer(server, 0);
    await store.close();
  });
  return { server, store, port: (server.address() as AddressInfo).port, faults };
}
