import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestHead } from '../bench/candidates.ts';
import { openConnection } from './connections.ts';
import type { Control } from './generator.ts';

/** Clients that ask for a long list and take little of it. */
export interface SlowReaderOptions {
  readonly port: number;
  /** How many take `bytesPerSecond`. */
  readonly slow: number;
  readonly bytesPerSecond: number;
  /** How many take nothing at all. */
  readonly stuck: number;
  readonly target: string;
  readonly user: string;
  readonly milliseconds: number;
}

/** When such a connection is closed is not to be seen here, behind all that was not read. */
export async function readSlowly(options: SlowReaderOptions, control: Control): Promise<void> {
  const { port, slow, bytesPerSecond, stuck, target, user, milliseconds } = options;
  const text = `${requestHead('GET', target, user)}\r\n`;
  for (let n = 0; n < stuck; n++) {
    const socket = await openConnection({ port });
    socket.write(text);
  }
  // A buffer of its own bounds what one turn takes.
  const readers = Array.from({ length: slow }, () => {
    const onread = { buffer: Buffer.alloc(bytesPerSecond), callback: () => false };
    const socket = connect({ port, host: '127.0.0.1', onread }).on('error', () => undefined);
    socket.write(text);
    return socket;
  });
  control.ready();
  const turn = setInterval(() => {
    for (const socket of readers) if (!socket.destroyed) socket.resume();
  }, 1000);
  await Promise.race([sleep(milliseconds), control.stopped]);
  clearInterval(turn);
}

/** A client that asks for a long list again and again and takes it as fast as it comes. */
export interface FastReaderOptions {
  readonly port: number;
  readonly target: string;
  readonly user: string;
  readonly milliseconds: number;
}

export interface FastReaderReport {
  readonly lists: number;
  readonly megabytesPerSecond: number;
}

export async function readFast(
  { port, target, user, milliseconds }: FastReaderOptions,
  control: Control,
): Promise<FastReaderReport> {
  control.ready();
  const start = performance.now();
  let lists = 0;
  let bytes = 0;
  while (performance.now() < start + milliseconds) {
    const socket = await openConnection({ port });
    socket.write(`${requestHead('GET', target, user)}Connection: close\r\n\r\n`);
    let last = '';
    socket.on('data', (chunk: Buffer) => {
      last = (last + chunk.subarray(-7).toString('latin1')).slice(-7);
    });
    await once(socket, 'close');
    if (last !== '\r\n0\r\n\r\n') throw new Error('The list was cut off.');
    lists++;
    bytes += socket.bytesRead;
  }
  return { lists, megabytesPerSecond: bytes / 1000 / (performance.now() - start) };
}
