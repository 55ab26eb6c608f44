import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What all clients of an attack do. */
export interface Attack {
  readonly connections: number;
  /**
   * What each client sends. `TOKEN` is replaced with one of `tokens` in turn, and `NUMBER` with the client's number.
   */
  readonly text: string;
  readonly tokens?: readonly string[];
  /** How much each client reads: everything by default; `little` is 1 KiB per second. */
  readonly reads?: 'little' | 'nothing';
  /** What each client sends when it has received the first bytes of a response. */
  readonly then?: string;
  /** Whether each client repeats its text: when it has received something, or on a new connection. */
  readonly repeats?: boolean;
}

/** The operating system queues a few hundred connections. If the queue is full, a client waits for a second. */
const perTurn = 100;
const reconnectMs = 100;
const littleBytes = 1024;

function open(port: number, text: string, { reads, then, repeats = false }: Attack): Promise<void> {
  return new Promise((resolve) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket
      .on('error', () => undefined)
      .once('close', () => {
        resolve();
        if (repeats) void sleep(reconnectMs).then(() => open(port, text, { connections: 1, text, repeats }));
      });
    socket.once('connect', () => {
      socket.write(text, () => {
        resolve();
      });
      if (reads === 'little') setInterval(() => void socket.read(littleBytes), 1000);
      if (reads !== undefined) {
        socket.pause();
        return;
      }
      socket.once('data', () => {
        if (then !== undefined) socket.write(then);
      });
      socket.on('data', () => {
        if (repeats && socket.writableLength === 0) socket.write(text);
      });
    });
  });
}

/** Runs in a process of its own, which the parent process kills. */
async function main([port = '', json = '']: string[]): Promise<void> {
  process.once('disconnect', () => process.exit());
  const attack = JSON.parse(json) as Attack;
  const { connections, text, tokens = [''] } = attack;
  for (let n = 0; n < connections; n += perTurn) {
    const turn = Array.from({ length: Math.min(perTurn, connections - n) }, (_, of) =>
      open(
        Number(port),
        text.replaceAll('TOKEN', tokens[(n + of) % tokens.length] ?? '').replaceAll('NUMBER', String(n + of)),
        attack,
      ),
    );
    await Promise.race([Promise.all(turn), sleep(reconnectMs * 20)]);
  }
  process.send?.('ready');
}

await main(process.argv.slice(2));
