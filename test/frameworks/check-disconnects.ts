import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { namesOfGarden } from './program.ts';

/** Sends the start of a request or a whole one, and disconnects after `afterBytes` bytes of the response. */
async function disconnect(base: URL, request: string, afterBytes: number, isReset: boolean): Promise<void> {
  const socket = connect(Number(base.port), base.hostname);
  await once(socket, 'connect');
  let isOurs = false;
  const closed = once(socket, 'close').then(() => {
    assert.ok(isOurs, 'The server disconnected.');
  });
  const received = new Promise<void>((resolve) => {
    socket.on('data', () => {
      if (socket.bytesRead >= afterBytes) resolve();
    });
  });
  socket.on('error', () => undefined).write(request);
  await (afterBytes === 0 ? sleep(20) : Promise.race([received, closed]));
  isOurs = true;
  if (isReset) socket.resetAndDestroy();
  else socket.destroy();
  await closed;
}

/** Makes clients disconnect while they send a body and while they receive a long list, then reads the whole list. */
export async function checkDisconnects(base: string, token: string): Promise<void> {
  const url = new URL(base);
  const path = `${url.pathname.replace(/\/$/, '')}/plants`;
  const head = `Host: ${url.host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
  const post = `POST ${path} HTTP/1.1\r\n${head}`;
  for (const isReset of [false, true]) {
    await disconnect(url, `${post}Content-Length: 100\r\n\r\n{"id":5,`, 0, isReset);
    await disconnect(url, `${post}Transfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\n`, 0, isReset);
    await disconnect(url, `GET ${path} HTTP/1.1\r\n${head}\r\n`, 1, isReset);
    await disconnect(url, `GET ${path} HTTP/1.1\r\n${head}\r\n`, 300_000, isReset);
    await disconnect(url, `GET ${path}?limit=2500 HTTP/1.1\r\n${head}\r\n`, 100_000, isReset);
  }
  const response = await fetch(`${base}/plants`, { headers: { authorization: `Bearer ${token}` } });
  const plants = (await response.json()) as { name: string }[];
  assert.deepEqual(
    plants.map(({ name }) => name),
    namesOfGarden,
  );
}
