import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Sends the start of a request or a whole one, and disconnects after `afterBytes` bytes of the response. */
async function disconnect(base: URL, request: string, afterBytes: number, isReset: boolean): Promise<void> {
  const socket: Socket = connect(Number(base.port), base.hostname);
  await once(socket, 'connect');
  let isOurs = false;
  const closed = once(socket, 'close').then(() => {
    assert.ok(isOurs, 'The server disconnected.');
  });
  socket.on('error', () => undefined).write(request);
  if (afterBytes === 0) await sleep(20);
  else await Promise.race([received(socket, afterBytes), closed]);
  isOurs = true;
  if (isReset) socket.resetAndDestroy();
  else socket.destroy();
  await closed;
}

/** Resolves when this many bytes have been received. */
function received(socket: Socket, bytes: number): Promise<void> {
  return new Promise((resolve) => {
    socket.on('data', () => {
      if (socket.bytesRead >= bytes) resolve();
    });
  });
}

/** Makes clients disconnect while they send a body and while they receive a long list. */
export async function checkDisconnects(base: string, token: string): Promise<void> {
  const url = new URL(base);
  const path = `${url.pathname.replace(/\/$/, '')}/plants`;
  const head = `Host: ${url.host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
  for (const isReset of [false, true]) {
    await disconnect(url, `POST ${path} HTTP/1.1\r\n${head}Content-Length: 100\r\n\r\n{"id":5,`, 0, isReset);
    await disconnect(
      url,
      `POST ${path} HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\n`,
      0,
      isReset,
    );
    await disconnect(url, `GET ${path} HTTP/1.1\r\n${head}\r\n`, 1, isReset);
    await disconnect(url, `GET ${path} HTTP/1.1\r\n${head}\r\n`, 300_000, isReset);
    await disconnect(url, `GET ${path}?limit=2500 HTTP/1.1\r\n${head}\r\n`, 100_000, isReset);
  }
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${base}/plants?limit=1`, { headers });
  assert.equal(response.status, 200);
  assert.equal(((await response.json()) as unknown[]).length, 1);
}
