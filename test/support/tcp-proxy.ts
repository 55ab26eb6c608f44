import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { listen } from './listen.ts';
import type { HasAfter } from './temporary-folder.ts';

/** Starts a proxy with a fixed port, like a load balancer whose target server changes. It is stopped after the test. */
export async function startTcpProxy(t: HasAfter, port: number) {
  let target = port;
  let forbidden: string | undefined;
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(target, '127.0.0.1');
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.on('data', (chunk) => {
      if (forbidden !== undefined && chunk.includes(forbidden)) client.destroy();
    });
    client.pipe(server).pipe(client);
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const proxyPort = await listen(t, proxy);
  t.after(cut);
  return {
    port: proxyPort,
    /** Closes the open connections, and sends new connections to another port. */
    pointTo: (newTarget: number) => {
      target = newTarget;
      cut();
    },
    /** Closes each connection on which a client sends `text`. */
    cutAt: (text: string) => {
      forbidden = text;
    },
  };
}
