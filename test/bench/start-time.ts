import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runLoad } from './load.ts';
import { median, ratio } from './report.ts';
import { requestText } from './requests.ts';
import { startServerProcess } from './server-process.ts';

/** Measures the time from starting a server to its first response, and compares it with a bare node:http server. */
export async function measureStarts({
  rounds,
  folder,
  serve,
}: {
  rounds: number;
  folder: string;
  serve: string[];
}): Promise<void> {
  const lists = join(folder, 'no-lists.json');
  await writeFile(lists, JSON.stringify({ 20: '[]' }));
  const bare = ['test/bench/peers/bare-node-http.js', lists];
  const own = [...serve, `sqlite:${join(folder, 'start.db')}`];
  const times = { bare: [] as number[], own: [] as number[] };
  for (let round = -1; round < rounds; round++) {
    for (const [name, args] of [
      ['bare', bare],
      ['own', own],
    ] as const) {
      const start = performance.now();
      const server = await startServerProcess(args);
      const list = { request: requestText('GET', '/plants?limit=20', 'ada'), status: 200 };
      let isFirst = true;
      await runLoad({
        port: server.port,
        connections: 1,
        milliseconds: Infinity,
        next: () => (isFirst ? ((isFirst = false), list) : undefined),
      });
      if (round >= 0) times[name].push(performance.now() - start);
      await server.stop();
    }
  }
  const [bareMs, ownMs] = [median(times.bare), median(times.own)];
  const compared = `× ${ratio(ownMs, bareMs)} of bare node:http (${bareMs.toFixed(0)} ms)`;
  console.log(`start to first response: ${ownMs.toFixed(0)} ms, ${compared}`);
}
