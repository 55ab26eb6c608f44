import { once } from 'node:events';
import { connect, isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectSecurely } from 'node:tls';
import { newPlantJson } from '../client.ts';
import type { Client, Exchange } from '../client.ts';
import { createPlant, expect, expectMine } from '../expect.ts';
import type { Checks } from '../expect.ts';

/** Returns the text of a request of user A, which ends with `body`. */
function requestText(c: Client, line: string, fields: readonly string[] = [], body = ''): string {
  const { host, pathname } = new URL(c.url);
  const [method = '', target = '', version = 'HTTP/1.1'] = line.split(' ');
  const head = [`${method} ${pathname.replace(/\/$/, '')}${target} ${version}`, `Host: ${host}`];
  return [...head, `Authorization: Bearer ${c.tokens.a}`, ...fields, '', body].join('\r\n');
}

const json = 'Content-Type: application/json';
const last = 'Connection: close';

/** Sends text in one packet on a new connection. Returns everything received until the server closes the connection. */
async function send(c: Client, text: string): Promise<Exchange> {
  const { hostname, port, protocol } = new URL(c.url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isSecure = protocol === 'https:';
  const options = { host, port: Number(port) || (isSecure ? 443 : 80) };
  const socket = isSecure
    ? connectSecurely({ ...options, servername: isIP(host) === 0 ? host : '' })
    : connect(options);
  const closed = once(socket, 'close').catch(() => undefined);
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  socket.on('error', () => undefined).write(text);
  await Promise.race([closed, sleep(20_000, undefined, { ref: false })]);
  const isClosed = socket.destroyed;
  socket.destroy();
  const request = { method: 'bytes', target: '', headers: {}, body: text };
  const exchange = { request, status: statusesOf(received)[0] ?? 0, headers: new Headers(), text: received };
  expect(isClosed, exchange, 'a connection that the server closes');
  return exchange;
}

function statusesOf(text: string): number[] {
  return Array.from(text.matchAll(/HTTP\/1\.1 ([2-5]\d\d) /g), ([, status]) => Number(status));
}

async function expectStatuses(c: Client, text: string, ...statuses: readonly number[]): Promise<Exchange> {
  const exchange = await send(c, text);
  const isRight = statusesOf(exchange.text).join() === statuses.join();
  expect(isRight, exchange, `responses with the statuses ${statuses.join(', ')}`);
  return exchange;
}

/** Checks of what `fetch` cannot send, or hides in a response. */
export const byteChecks: Checks = {
  'bytes-no-body MUST send no body in a response to HEAD, or with status 204 [RFC 9112 §6.3]': async (c) => {
    const { id } = await createPlant(c);
    for (const [line, status] of [
      ['HEAD /plants', 200],
      ['OPTIONS /plants', 204],
      [`DELETE /plants/${id}`, 204],
    ] as const) {
      const exchange = await expectStatuses(c, requestText(c, line, [last]), status);
      expect(exchange.text.indexOf('\r\n\r\n') === exchange.text.length - 4, exchange, 'no body');
    }
  },
  'bytes-chunked MUST accept a NewPlant in chunks [RFC 9112 §7.1]': async (c, plant) => {
    c.a.ids.add(plant.id);
    const chunks = newPlantJson(plant).replaceAll(/.{1,9}/gs, (each) => `${each.length.toString(16)}\r\n${each}\r\n`);
    const fields = [json, 'Transfer-Encoding: chunked', last];
    await expectStatuses(c, requestText(c, 'POST /plants', fields, `${chunks}0\r\n\r\n`), 200);
    await expectMine(c, [plant]);
  },
  'bytes-delete-body MUST NOT process the body of a DELETE as a request': async (c) => {
    const [plant, kept] = [await createPlant(c), await createPlant(c)];
    const body = requestText(c, `DELETE /plants/${kept.id}`, [last]);
    const fields = [`Content-Length: ${body.length}`, last];
    await expectStatuses(c, requestText(c, `DELETE /plants/${plant.id}`, fields, body), 204);
    await expectMine(c, [kept]);
  },
  'bytes-two-lengths MUST refuse Transfer-Encoding with Content-Length, and close [RFC 9112 §6.3]': async (c) => {
    const kept = await createPlant(c);
    const body = `0\r\n\r\n${requestText(c, `DELETE /plants/${kept.id}`, [last])}`;
    const fields = [json, 'Transfer-Encoding: chunked', `Content-Length: ${body.length}`];
    await expectStatuses(c, requestText(c, 'POST /plants', fields, body), 400);
    await expectMine(c, [kept]);
  },
  'bytes-two-tokens MUST refuse a repeated Authorization [RFC 9110 §5.3]': async (c) => {
    const exchange = await send(c, requestText(c, 'GET /plants', [`Authorization: Bearer ${c.tokens.b}`, last]));
    // Some proxies respond with 400.
    expect(/^HTTP\/1\.1 40[01] /.test(exchange.text), exchange, 'status 401 or 400');
  },
  'bytes-http-1.0 MUST close an HTTP/1.0 connection, and send no Transfer-Encoding [RFC 9112 §6.1]': async (c) => {
    const plant = await createPlant(c);
    const exchange = await send(c, requestText(c, 'GET /plants HTTP/1.0'));
    const [head = '', body = ''] = exchange.text.split('\r\n\r\n');
    expect(!/transfer-encoding/i.test(head) && body.includes(plant.name), exchange, 'a list without Transfer-Encoding');
  },
  'bytes-upgrade MUST respond to a request with Upgrade, and either process or ignore the next one': async (c) => {
    const plant = await createPlant(c);
    const first = requestText(c, 'GET /plants?limit=0', ['Connection: Upgrade', 'Upgrade: h2c']);
    const exchange = await send(c, first + requestText(c, `DELETE /plants/${plant.id}`, [last]));
    const [status, next] = statusesOf(exchange.text);
    expect(status === 200 && (next ?? 204) === 204, exchange, 'status 200, and then either 204 or nothing');
    await expectMine(c, next === undefined ? [plant] : []);
  },
  'bytes-pipelining MUST process pipelined requests in order [RFC 9112 §9.3.2]': async (c, plant) => {
    c.a.ids.add(plant.id);
    const body = newPlantJson(plant);
    const post = requestText(c, 'POST /plants', [json, `Content-Length: ${Buffer.byteLength(body)}`], body);
    const remove = requestText(c, `DELETE /plants/${plant.id}`);
    const text = post + requestText(c, 'GET /plants') + remove + requestText(c, 'GET /plants', [last]);
    const exchange = await expectStatuses(c, text, 200, 200, 204, 200);
    expect(exchange.text.split(plant.name).length === 3, exchange, 'the plant in two responses');
  },
};
