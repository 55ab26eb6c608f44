import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What all clients of an attack do. */
export interface Attack {
  readonly connections: number;
  /** What each client sends. The token `ada` is replaced with one of `tokens`, and `NUMBER` with a new number. */
  readonly text: string;
  readonly tokens?: readonly string[];
  readonly readsNothing?: boolean;
  /** Whether each client repeats its text: when it has received something, or on a new connection. */
  readonly repeats?: boolean;
}

/** The operating system queues a few hundred connections. If the queue is full, a client waits for a second. */
const perTurn = 100;
const reconnectMs = 100;

/** Always six digits, so that it has the length of its placeholder. */
let number = 100_000;

/** Starts a client. Resolves when the client has sent its text, or when its connection is closed. */
function startClient(): Promise<void> {
  const token = tokens[number % tokens.length] ?? '';
  const nextText = (): string => text.replaceAll('ada', token).replaceAll('NUMBER', String(number++));
  return new Promise((resolve) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      resolve();
      if (repeats) void sleep(reconnectMs).then(startClient);
    });
    socket.write(nextText(), () => {
      resolve();
    });
    if (readsNothing) socket.pause();
    else socket.on('data', () => repeats && socket.writableLength === 0 && socket.write(nextText()));
  });
}

// The parent process kills this process. If the parent ends first, this process ends itself.
process.once('disconnect', () => process.exit());
const [port = '', json = ''] = process.argv.slice(2);
const { connections, text, tokens = [], readsNothing = false, repeats = false } = JSON.parse(json) as Attack;
for (let open = 0; open < connections; open += perTurn) {
  await Promise.all(Array.from({ length: perTurn }, startClient));
}
process.send?.('ready');
