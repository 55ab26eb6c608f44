import { connect } from 'node:net';
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
  /** Whether each client repeats its text: when it has received something, or on a new connection. */
  readonly repeats?: boolean;
}

/** The operating system queues a few hundred connections. If the queue is full, a client waits for a second. */
const perTurn = 100;
const reconnectMs = 100;
const littleBytes = 1024;

/** Starts a client. Resolves when the client has sent its text, or when its connection is closed. */
function startClient(port: number, number: number, attack: Attack): Promise<void> {
  const { reads, repeats = false, tokens = [''] } = attack;
  const token = tokens[number % tokens.length] ?? '';
  const text = attack.text.replaceAll('TOKEN', token).replaceAll('NUMBER', String(number));
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      resolve();
      if (repeats) void sleep(reconnectMs).then(() => startClient(port, number, attack));
    });
    socket.write(text, () => {
      resolve();
    });
    if (reads === 'little') setInterval(() => void socket.read(littleBytes), 1000);
    if (reads !== undefined) {
      socket.pause();
      return;
    }
    socket.on('data', () => {
      if (repeats && socket.writableLength === 0) socket.write(text);
    });
  });
}

// This program is a process of its own, which the parent process kills.
process.once('disconnect', () => process.exit());
const [port = '', json = ''] = process.argv.slice(2);
const attack = JSON.parse(json) as Attack;
const numbers = Array.from({ length: attack.connections }, (_, n) => n);
while (numbers.length > 0) {
  await Promise.all(numbers.splice(0, perTurn).map((number) => startClient(Number(port), number, attack)));
}
process.send?.('ready');
