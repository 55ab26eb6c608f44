import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestHead } from '../../bench/requests.ts';
import { openConnections } from '../../bench/connections.ts';
import { ConnectionEnds } from './connection-ends.ts';
import type { ConnectionEnd } from './connection-ends.ts';
import type { Control } from './load-process.ts';

/** Clients that send one byte at a time: half of them in the header, the others in the body. */
export interface SlowSenderOptions {
  readonly port: number;
  readonly connections: number;
  readonly byteEveryMs: number;
  /** How long they send. */
  readonly milliseconds: number;
  readonly user: string;
}

export async function sendSlowly(options: SlowSenderOptions, control: Control): Promise<ConnectionEnd[]> {
  const { port, connections, byteEveryMs, milliseconds, user } = options;
  const ends = new ConnectionEnds();
  const head = requestHead('POST', '/plants', user);
  const starts = {
    'slow senders of a header': `${head}X-Filler: `,
    'slow senders of a body': `${head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"name":"`,
  };
  const sockets: Socket[] = [];
  for (const [kind, text] of Object.entries(starts)) {
    for (const socket of await openConnections(Math.floor(connections / 2), port)) {
      socket.write(text);
      ends.watch(kind, socket);
      sockets.push(socket);
    }
  }
  control.ready();
  const sendAtByteRate = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write('a');
  }, byteEveryMs);
  await Promise.race([ends.allClosed(), sleep(milliseconds)]);
  clearInterval(sendAtByteRate);
  return ends.report();
}
