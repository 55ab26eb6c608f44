import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection } from '../../bench/connections.ts';
import { tokenOf } from '../../bench/data-set.ts';

/** The response to a request. */
export interface Received {
  readonly status: number;
  /** Whether the server closes the connection after the response. */
  readonly isLast: boolean;
}

/** Sends a request whose response is not chunked. Resolves with `undefined` if the connection closes first. */
export function exchange(socket: Socket, text: string): Promise<Received | undefined> {
  return new Promise((resolve) => {
    let received = '';
    const settle = (result: Received | undefined): void => {
      socket.off('data', onData).off('close', onClose);
      resolve(result);
    };
    const onData = (chunk: Buffer): void => {
      received += chunk.toString('latin1');
      const headLength = received.indexOf('\r\n\r\n');
      if (headLength === -1) return;
      const head = received.slice(0, headLength);
      const bodyLength = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      if (received.length < headLength + 4 + bodyLength) return;
      settle({ status: Number(head.slice(9, 12)), isLast: /\r\nconnection: *close/i.test(head) });
    };
    const onClose = (): void => {
      settle(undefined);
    };
    if (socket.destroyed) onClose();
    else socket.on('data', onData).once('close', onClose).write(text);
  });
}

/** Sends a request on a new connection and waits up to `maxMs` for the response. Returns the response's status. */
export async function requestOnce(
  port: number,
  text: string,
  maxMs: number,
): Promise<number | 'closed' | 'no response'> {
  const socket = await openConnection(port).catch(() => undefined);
  if (socket === undefined) return 'closed';
  const responded = exchange(socket, text).then((received) => received?.status ?? 'closed');
  const outcome = await Promise.race([responded, sleep(maxMs, 'no response' as const, { ref: false })]);
  socket.destroy();
  return outcome;
}

/** Sends a request on a pooled connection. Resolves with `undefined` if no complete response arrives in time. */
export async function sendByFetch(
  port: number,
  user: string,
  target: string,
  plant?: object,
): Promise<{ readonly status: number } | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${target}`, {
      method: plant === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${tokenOf(user)}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(20_000),
      ...(plant !== undefined && { body: JSON.stringify(plant) }),
    });
    await response.arrayBuffer();
    return response;
  } catch {
    return undefined;
  }
}
