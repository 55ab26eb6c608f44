import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Control } from './load-process.ts';

export interface FloodOptions {
  readonly port: number;
  readonly attempts: number;
  /** No more attempts after this time, because the server then closes the first connections as silent. */
  readonly milliseconds: number;
  /** Selects the local addresses, each for 5000 connections: an address has only about 28,000 ports. */
  readonly group: number;
  /** How long the connections are held after the last attempt. */
  readonly holdMs: number;
}

export interface FloodReport {
  readonly connected: number;
  /** Connections that the server closed within a second. */
  readonly closedAtOnce: number;
  /** Connections that were open at the end. */
  readonly open: number;
  /** Failed attempts by error code. */
  readonly failed: Readonly<Record<string, number>>;
}

/** The number of parallel attempts. */
const maxParallel = 500;
const perAddress = 5000;
const maxConnectMs = 5000;

/** Opens as many connections as possible, and sends nothing. */
export async function floodConnections(
  { port, attempts, milliseconds, group, holdMs }: FloodOptions,
  control: Control,
): Promise<FloodReport> {
  const end = performance.now() + milliseconds;
  const sockets: Socket[] = [];
  const failed: Record<string, number> = {};
  let closedAtOnce = 0;
  let next = 0;
  const attempt = async (n: number): Promise<void> => {
    // Other systems have only one loopback address.
    const from =
      process.platform === 'linux' ? { localAddress: `127.0.${group + 1}.${2 + Math.floor(n / perAddress)}` } : {};
    const socket = connect({ port, host: '127.0.0.1', ...from });
    const failure = await new Promise<string | undefined>((resolve) => {
      socket.once('connect', () => {
        resolve(undefined);
      });
      socket.on('error', (error: NodeJS.ErrnoException) => {
        resolve(error.code ?? error.message);
      });
      socket.setTimeout(maxConnectMs, () => {
        resolve('timeout');
      });
    });
    socket.setTimeout(0);
    if (failure !== undefined) {
      failed[failure] = (failed[failure] ?? 0) + 1;
      socket.destroy();
      return;
    }
    const connectedAt = performance.now();
    socket.resume().once('close', () => {
      if (performance.now() - connectedAt < 1000) closedAtOnce++;
    });
    sockets.push(socket);
  };
  await Promise.all(
    Array.from({ length: maxParallel }, async () => {
      while (next < attempts && performance.now() < end) await attempt(next++);
    }),
  );
  control.ready();
  await sleep(holdMs);
  return {
    connected: sockets.length,
    closedAtOnce,
    open: sockets.filter((socket) => !socket.destroyed).length,
    failed,
  };
}
