import { connect } from 'node:net';

/** What the clients of an attack do. */
export interface Attack {
  readonly connections: number;
  /** Each client sends one of these texts. `NUMBER` is replaced with a new number. */
  readonly texts: readonly string[];
  readonly readsNothing?: boolean;
  /** Whether each client sends again when it has received something, and connects again when it is disconnected. */
  readonly repeats?: boolean;
}

// The parent process kills this process. If the parent ends first, this process ends itself.
process.once('disconnect', () => process.exit());
const [port = '', json = ''] = process.argv.slice(2);
const { connections, texts, readsNothing = false, repeats = false } = JSON.parse(json) as Attack;
/** Always six digits, so that it has the length of its placeholder. */
let number = 100_000;

/** Starts a client. Resolves when the client has sent its text, or when its connection is closed. */
function startClient(): Promise<void> {
  const text = texts[number % texts.length] ?? '';
  const nextText = (): string => text.replaceAll('NUMBER', String(number++));
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
    socket.write(nextText(), () => {
      resolve();
    });
    socket.once('close', () => {
      resolve();
      if (repeats) setTimeout(() => void startClient(), 100);
    });
    if (readsNothing) socket.pause();
    else socket.on('data', () => repeats && socket.writableLength === 0 && socket.write(nextText()));
  });
}

// The operating system queues a few hundred connections. If the queue is full, a client waits for a second.
for (let open = 0; open < connections; open += 100) await Promise.all(Array.from({ length: 100 }, startClient));
process.send?.('ready');
