import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestHead } from '../bench/candidates.ts';
import { openConnections } from './connections.ts';
import type { Control } from './generator.ts';

/** Clients that send one request after the other and never read an answer. */
export interface PipelineOptions {
  readonly port: number;
  readonly connections: number;
  /** By each of them. */
  readonly requests: number;
  readonly target: string;
  readonly user: string;
  readonly milliseconds: number;
}

export interface PipelineReport {
  /** The requests that the server, or the system for it, took. */
  readonly taken: number;
  /** Connections on which a write failed because the server had closed them. */
  readonly closed: number;
}

const requestsPerWrite = 100;

export async function pipeline(options: PipelineOptions, control: Control): Promise<PipelineReport> {
  const { port, connections, requests, target, user, milliseconds } = options;
  const text = `${requestHead('GET', target, user)}\r\n`.repeat(requestsPerWrite);
  let taken = 0;
  let closed = 0;
  const send = async (socket: Socket): Promise<void> => {
    for (let sent = 0; sent < requests; sent += requestsPerWrite) {
      const failure = await new Promise((resolve) => {
        socket.write(text, resolve);
      });
      if (failure instanceof Error) {
        closed++;
        return;
      }
      taken += requestsPerWrite;
    }
  };
  const sockets = await openConnections(connections, { port });
  control.ready();
  const sending = Promise.all(sockets.map(send)).then(() => control.stopped);
  await Promise.race([sending, sleep(milliseconds), control.stopped]);
  return { taken, closed };
}
