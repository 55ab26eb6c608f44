import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestHead } from '../../bench/requests.ts';
import { listText } from './closed-loop.ts';
import { openConnections } from '../../bench/connections.ts';
import { ConnectionEnds } from './connection-ends.ts';
import type { ConnectionEnd } from './connection-ends.ts';
import type { Control } from './load-process.ts';

/** Idle connections of three kinds. */
export interface IdleOptions {
  readonly port: number;
  readonly connections: number;
  /** How long to wait for the server to close them. */
  readonly milliseconds: number;
  readonly user: string;
}

export async function holdIdle(
  { port, connections, milliseconds, user }: IdleOptions,
  control: Control,
): Promise<ConnectionEnd[]> {
  const ends = new ConnectionEnds();
  const kinds: Record<string, (socket: Socket) => Promise<unknown>> = {
    'without a request': () => Promise.resolve(),
    'kept alive after a response': (socket) => {
      socket.write(listText(user));
      return once(socket, 'readable');
    },
    'with an incomplete header': (socket) => {
      socket.write(requestHead('GET', '/plants', user));
      return Promise.resolve();
    },
  };
  for (const [kind, begin] of Object.entries(kinds)) {
    const sockets = await openConnections(Math.floor(connections / 3), port);
    await Promise.all(sockets.map(begin));
    for (const socket of sockets) {
      socket.read();
      ends.watch(kind, socket);
    }
  }
  control.ready();
  await Promise.race([ends.allClosed(), sleep(milliseconds)]);
  return ends.report();
}
