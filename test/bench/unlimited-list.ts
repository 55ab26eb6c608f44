import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestHead } from './candidates.ts';
import { tokenOf } from './garden.ts';
import type { ServerProcess } from './server-process.ts';

const rounds = 7;

/** Reads all plants of a user at once, while another client asks for 20 of them every few milliseconds. */
export async function measureUnlimitedList(server: ServerProcess, user: string): Promise<void> {
  await readAll(server.port, user);
  await sleep(1000);
  const idle = (await server.usage()).rssBytes;
  let peak = idle;
  const rates: number[] = [];
  const waits: number[] = [];
  const agent = new Agent({ keepAlive: true });
  for (let round = 0; round < rounds; round++) {
    const reading = { isOver: false };
    const rate = readAll(server.port, user).finally(() => {
      reading.isOver = true;
    });
    while (!reading.isOver) {
      const start = performance.now();
      await readSome(server.port, user, agent);
      waits.push(performance.now() - start);
      peak = Math.max(peak, (await server.usage()).rssBytes);
      await sleep(5);
    }
    rates.push(await rate);
  }
  agent.destroy();
  rates.sort((a, b) => a - b);
  const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);
  console.log(
    `unlimited list of all plants: ${(rates[rounds >> 1] ?? NaN).toFixed(0)} MB/s, ${mebibytes(peak - idle)} MiB above idle (${mebibytes(idle)} MiB),`,
  );
  console.log(`  another client waited ${Math.max(...waits).toFixed(1)} ms at the longest`);
}

/** Resolves with the rate in MB a second. */
async function readAll(port: number, user: string): Promise<number> {
  const start = performance.now();
  const socket = connect(port, '127.0.0.1');
  socket.write(`${requestHead('GET', '/plants', user)}Connection: close\r\n\r\n`);
  let last = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    last = chunk;
  });
  await once(socket, 'close');
  if (!last.toString('latin1').endsWith(']\r\n0\r\n\r\n')) throw new Error('The list was cut off.');
  return socket.bytesRead / 1000 / (performance.now() - start);
}

async function readSome(port: number, user: string, agent: Agent): Promise<void> {
  const headers = { authorization: `Bearer ${tokenOf(user)}` };
  const sent = request({ port, host: '127.0.0.1', path: '/plants?limit=20&after=5', headers, agent }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
}
