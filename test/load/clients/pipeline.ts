import type { Socket } from 'node:net';
import { openConnections } from '../../bench/connections.ts';
import { requestText } from '../../bench/requests.ts';
import type { Control } from './load-process.ts';

/** Clients that send requests and never read a response. */
export interface PipelineOptions {
  readonly port: number;
  readonly connections: number;
  /** The number of requests of each client. */
  readonly requests: number;
  readonly target: string;
  readonly user: string;
}

const requestsPerWrite = 100;

/** Returns how many requests the server or the buffers of the system accepted. */
export async function pipelineRequests(options: PipelineOptions, control: Control): Promise<number> {
  const { port, connections, requests, target, user } = options;
  const text = requestText('GET', target, user).repeat(requestsPerWrite);
  let sent = 0;
  const send = async (socket: Socket): Promise<void> => {
    for (let n = 0; n < requests; n += requestsPerWrite) {
      const failure = await new Promise((resolve) => {
        socket.pause().write(text, resolve);
      });
      if (failure instanceof Error) return;
      sent += requestsPerWrite;
    }
  };
  const sockets = await openConnections(connections, port);
  control.ready();
  void Promise.all(sockets.map(send));
  await control.stopped;
  return sent;
}
