import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Control } from './generator.ts';

/** Connections, as many as there can be. */
export interface FloodOptions {
  readonly port: number;
  readonly attempts: number;
  /** No more attempts after this time: the first ones may be closed for their silence by then. */
  readonly milliseconds: number;
  /** Which thousands of loopback addresses they come from: one address has some 28,000 ports. */
  readonly group: number;
  /** For how long those that were taken are held. */
  readonly holdMs: number;
}

export interface FloodReport {
  readonly connected: number;
  /** Of these, closed by the server before anything was sent, within a second. */
  readonly closedAtOnce: number;
  /** Of these, open at the end. */
  readonly open: number;
  readonly failed: Readonly<Record<string, number>>;
}

/** How many attempts are under way at once. */
const atOnce = 500;
const perAddress = 5000;
const connectWithinMs = 5000;

export async function flood(
  { port, attempts, milliseconds, group, holdMs }: FloodOptions,
  control: Control,
): Promise<FloodReport> {
  const end = performance.now() + milliseconds;
  const sockets: Socket[] = [];
  const failed: Record<string, number> = {};
  let closedAtOnce = 0;
  let next = 0;
  const attempt = async (n: number): Promise<void> => {
    // Other systems have no loopback address but the one.
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
      socket.setTimeout(connectWithinMs, () => {
        resolve('not taken in time');
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
    Array.from({ length: atOnce }, async () => {
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
