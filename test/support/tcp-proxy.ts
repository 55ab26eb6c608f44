import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { listen } from './listen.ts';
import type { HasAfter } from './temporary-folder.ts';

/** Starts a proxy with a fixed port, like a load balancer whose target server changes. It is stopped after the test. */
export async function startTcpProxy(t: HasAfter, target: number) {
  let forbidden: string | undefined;
  const clients = new Set<Socket>();
  const proxy = createServer((client) => {
    clients.add(client);
    client.on('error', () => undefined);
    client.on('data', (chunk) => {
      if (forbidden !== undefined && chunk.includes(forbidden)) client.destroy();
    });
    pipeline(client, connect(target, '127.0.0.1'), client, () => {
      client.destroy();
      clients.delete(client);
    });
  });
  const cut = (): void => {
    for (const client of clients) client.destroy();
  };
  const port = await listen(t, proxy);
  t.after(cut);
  return {
    port,
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
