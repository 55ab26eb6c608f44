import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestText } from '../../bench/requests.ts';
import { openConnections } from '../../bench/connections.ts';
import type { Control } from './load-process.ts';

/** Clients that send requests and never read a response. */
export interface PipelineOptions {
  readonly port: number;
  readonly connections: number;
  /** The number of requests of each client. */
  readonly requests: number;
  readonly target: string;
  readonly user: string;
  readonly milliseconds: number;
}

export interface PipelineReport {
  /** Requests that the server or the buffers of the system accepted. */
  readonly sent: number;
  /** Connections on which a write failed because the server had closed them. */
  readonly closed: number;
}

const requestsPerWrite = 100;

export async function pipelineRequests(options: PipelineOptions, control: Control): Promise<PipelineReport> {
  const { port, connections, requests, target, user, milliseconds } = options;
  const text = requestText('GET', target, user).repeat(requestsPerWrite);
  let sent = 0;
  let closed = 0;
  const send = async (socket: Socket): Promise<void> => {
    for (let n = 0; n < requests; n += requestsPerWrite) {
      const failure = await new Promise((resolve) => {
        socket.write(text, resolve);
      });
      if (failure instanceof Error) {
        closed++;
        return;
      }
      sent += requestsPerWrite;
    }
  };
  const sockets = await openConnections(connections, port);
  control.ready();
  const sending = Promise.all(sockets.map(send)).then(() => control.stopped);
  await Promise.race([sending, sleep(milliseconds), control.stopped]);
  return { sent, closed };
}
