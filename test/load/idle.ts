import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestHead } from '../bench/candidates.ts';
import { listText } from './closed-loop.ts';
import { openConnections } from './connections.ts';
import { Endings } from './endings.ts';
import type { Ending } from './endings.ts';
import type { Control } from './generator.ts';

/** Connections on which nothing goes on, of three kinds. */
export interface IdleOptions {
  readonly port: number;
  readonly connections: number;
  /** For how long to wait for the server to close them. */
  readonly milliseconds: number;
  readonly user: string;
}

export async function holdIdle(
  { port, connections, milliseconds, user }: IdleOptions,
  control: Control,
): Promise<Ending[]> {
  const endings = new Endings();
  const kinds: Record<string, (socket: Socket) => Promise<unknown>> = {
    'that sent nothing': () => Promise.resolve(),
    'kept alive after a good request': (socket) => {
      socket.write(listText(user));
      return once(socket, 'readable');
    },
    'with half a header': (socket) => {
      socket.write(requestHead('GET', '/plants', user));
      return Promise.resolve();
    },
  };
  for (const [kind, begin] of Object.entries(kinds)) {
    const sockets = await openConnections(Math.floor(connections / 3), { port });
    await Promise.all(sockets.map(begin));
    for (const socket of sockets) {
      socket.read();
      endings.watch(kind, socket);
    }
  }
  control.ready();
  await Promise.race([endings.allClosed(), sleep(milliseconds)]);
  return endings.report();
}
