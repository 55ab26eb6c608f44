import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { HasAfter } from './temporary-folder.ts';

/** The stable address of a service whose server changes: what a load balancer does. */
export interface TcpProxy {
  readonly port: number;
  /** Sends new connections to another port, and cuts those that are there. */
  pointTo(port: number): void;
}

/** Starts a proxy; it is stopped after the test. */
export async function startTcpProxy(t: HasAfter, port: number): Promise<TcpProxy> {
  let target = port;
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(target, '127.0.0.1');
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.pipe(server).pipe(client);
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => {
    proxy.close();
    cut();
  });
  return {
    port: (proxy.address() as AddressInfo).port,
    pointTo: (newTarget) => {
      target = newTarget;
      cut();
    },
  };
}
