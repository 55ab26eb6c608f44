import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestHead } from '../bench/candidates.ts';
import { openConnections } from './connections.ts';
import { Endings } from './endings.ts';
import type { Ending } from './endings.ts';
import type { Control } from './generator.ts';

/** Clients that send a byte at a time: one half in the header, the other in the body. */
export interface SlowSenderOptions {
  readonly port: number;
  readonly connections: number;
  readonly byteEveryMs: number;
  /** For how long to go on. */
  readonly milliseconds: number;
  readonly user: string;
}

export async function sendSlowly(options: SlowSenderOptions, control: Control): Promise<Ending[]> {
  const { port, connections, byteEveryMs, milliseconds, user } = options;
  const endings = new Endings();
  const head = requestHead('POST', '/plants', user);
  const begins = {
    'slow in the header': `${head}X-Filler: `,
    'slow in the body': `${head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"name":"`,
  };
  const sockets: Socket[] = [];
  for (const [kind, begin] of Object.entries(begins)) {
    for (const socket of await openConnections(Math.floor(connections / 2), { port })) {
      socket.write(begin);
      endings.watch(kind, socket);
      sockets.push(socket);
    }
  }
  control.ready();
  const trickle = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write('a');
  }, byteEveryMs);
  await Promise.race([endings.allClosed(), sleep(milliseconds)]);
  clearInterval(trickle);
  return endings.report();
}
