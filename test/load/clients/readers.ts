import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readWholeList, requestText } from '../../bench/requests.ts';
import { openConnection } from '../../bench/connections.ts';
import type { Control } from './load-process.ts';

/** Clients that request a long list, and read it slowly or not at all. */
export interface SlowReaderOptions {
  readonly port: number;
  /** How many read `bytesPerSecond`. */
  readonly slow: number;
  readonly bytesPerSecond: number;
  /** How many read nothing. */
  readonly stuck: number;
  readonly target: string;
  readonly user: string;
  readonly milliseconds: number;
}

/** Does not report when the server closes a connection, because the unread bytes come first. */
export async function readSlowly(options: SlowReaderOptions, control: Control): Promise<void> {
  const { port, slow, bytesPerSecond, stuck, target, user, milliseconds } = options;
  const text = requestText('GET', target, user);
  for (let n = 0; n < stuck; n++) {
    const socket = await openConnection(port);
    socket.write(text);
  }
  // A buffer of this size limits how much one resume() reads.
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

/** A client that requests a long list repeatedly, and reads it as fast as it can. */
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
    bytes += await readWholeList(port, target, user);
    lists++;
  }
  return { lists, megabytesPerSecond: bytes / 1000 / (performance.now() - start) };
}
