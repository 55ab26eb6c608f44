import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { tokenOf } from './data-set.ts';
import { median } from './report.ts';
import { readWholeList } from './requests.ts';
import type { ServerProcess } from './server-process.ts';

const rounds = 7;

/** Measures the unlimited list of a user, while another client lists 20 plants every few milliseconds. */
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
      await listTwenty(server.port, user, agent);
      waits.push(performance.now() - start);
      peak = Math.max(peak, (await server.usage()).rssBytes);
      await sleep(5);
    }
    rates.push(await rate);
  }
  agent.destroy();
  const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  const memory = `${mebibytes(peak - idle)} of memory above idle (${mebibytes(idle)})`;
  console.log(`unlimited list of all plants: ${median(rates).toFixed(0)} MB/s, ${memory},`);
  console.log(`  another client waited ${Math.max(...waits).toFixed(1)} ms at most`);
}

/** Returns the rate in MB per second. */
async function readAll(port: number, user: string): Promise<number> {
  const start = performance.now();
  return (await readWholeList(port, '/plants', user)) / 1000 / (performance.now() - start);
}

async function listTwenty(port: number, user: string, agent: Agent): Promise<void> {
  const headers = { authorization: `Bearer ${tokenOf(user)}` };
  const sent = request({ port, host: '127.0.0.1', path: '/plants?limit=20&after=5', headers, agent }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
}
