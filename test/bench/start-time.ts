import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requestHead } from './candidates.ts';
import { runLoad } from './load.ts';
import { median, ratio } from './report.ts';
import { startServerProcess } from './server-process.ts';

/** How long it takes from starting a server to its first answer, beside a bare node:http server. */
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
  const floor = ['test/bench/peers/floor.js', lists];
  const own = [...serve, `sqlite:${join(folder, 'start.db')}`];
  const times = { floor: [] as number[], own: [] as number[] };
  for (let round = -1; round < rounds; round++) {
    for (const [name, args] of [
      ['floor', floor],
      ['own', own],
    ] as const) {
      const start = performance.now();
      const server = await startServerProcess(args);
      const list = { request: `${requestHead('GET', '/plants?limit=20', 'ada')}\r\n`, status: 200 };
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
  const [floorMs, ownMs] = [median(times.floor), median(times.own)];
  console.log(
    `start to first answer: ${ownMs.toFixed(0)} ms, × ${ratio(ownMs, floorMs)} of bare node:http (${floorMs.toFixed(0)} ms)`,
  );
}
