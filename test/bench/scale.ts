import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { createRequest, requestHead } from './candidates.ts';
import { insertAll, randomId, writeTokenFile } from './garden.ts';
import { runLoad } from './load.ts';
import type { Exchange } from './load.ts';
import { describeMachine, median, quantile, ratio } from './report.ts';
import { startServerProcess } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';
import { measureStarts } from './start-time.ts';
import { measureUnlimitedList } from './unlimited-list.ts';

const { values } = parseArgs({
  options: { sizes: { type: 'string', default: '10000,1000000,5000000' }, rounds: { type: 'string', default: '7' } },
});
const sizes = values.sizes.split(',').map(Number);
const rounds = Number(values.rounds);
const connections = 64;
/** So few that the smallest garden stays small: what is created is deleted again. */
const requestsPerRound = 4000;

/** Whose plants they all are. */
const user = 'ada';
const plants = { limitParameter: 'limit', createdStatus: 200, deletedStatus: 204, answersPlant: true, isWhole: true };

/** Random ids, kept in the order in which they are deleted. */
interface Garden {
  readonly size: number;
  readonly server: ServerProcess;
  readonly known: number[];
}

/**
 * Two thirds of the ids in ascending order, then the rest in between: pages of the file are then as
 * full as in a store that grew at random, but it is made in seconds.
 */
function plantGarden(path: string, size: number): number[] {
  const known: number[] = [];
  insertAll(path, function* () {
    for (const count of [Math.round((size * 2) / 3), Math.round(size / 3)]) {
      for (let n = 0; n < count; n++) {
        const id = Math.floor((n + Math.random()) * (2 ** 52 / count));
        if (n % Math.ceil(size / 50_000) === 0) known.push(id);
        yield [user, id, n];
      }
    }
  });
  for (let n = known.length - 1; n > 0; n--) {
    const other = Math.floor(Math.random() * (n + 1));
    [known[n], known[other]] = [known[other] ?? 0, known[n] ?? 0];
  }
  return known;
}

const operations: Record<string, (garden: Garden) => () => Exchange | undefined> = {
  create:
    ({ known }) =>
    () => {
      const id = randomId();
      known.push(id);
      return createRequest(user, id, { name: 'Fern', tag: 'indoor' }, plants);
    },
  'list 20': () => () => ({
    request: `${requestHead('GET', `/plants?limit=20&after=${randomId()}`, user)}\r\n`,
    status: 200,
  }),
  delete:
    ({ known }) =>
    () => {
      const id = known.pop();
      return id === undefined
        ? undefined
        : { request: `${requestHead('DELETE', `/plants/${id}`, user)}\r\n`, status: 204 };
    },
};

async function measureOperation(name: string, gardens: readonly Garden[]): Promise<void> {
  const taking = gardens.map((garden) => ({
    garden,
    next: operations[name]?.(garden),
    cpu: [] as number[],
    p99: [] as number[],
  }));
  for (let round = -1; round < rounds; round++) {
    for (const { garden, next, cpu, p99 } of taking) {
      if (next === undefined) continue;
      const before = await garden.server.usage();
      let left = requestsPerRound;
      const load = await runLoad({
        port: garden.server.port,
        connections,
        milliseconds: Infinity,
        next: () => (left-- > 0 ? next() : undefined),
      });
      const after = await garden.server.usage();
      if (round < 0) continue;
      cpu.push((after.cpuMicros - before.cpuMicros) / load.requests);
      p99.push(quantile(load.latencies, 0.99));
    }
  }
  const smallest = median(taking[0]?.cpu ?? []);
  for (const { garden, cpu, p99 } of taking) {
    const figures = [
      `${median(cpu).toFixed(1)} µs`,
      `× ${ratio(median(cpu), smallest)}`,
      `p99 ${median(p99).toFixed(1)} ms`,
    ];
    console.log(`${name.padEnd(8)} ${String(garden.size).padStart(9)} plants: ${figures.join(', ')}`);
  }
}

const folder = await mkdtemp(join(tmpdir(), 'plant-store-scale-'));
const tokens = join(folder, 'tokens.json');
await writeTokenFile(tokens);
const serve = ['dist/cli/main.js', 'serve', '--port', '0', '--log', 'off', '--tokens', tokens, '--storage'];
try {
  console.log(`${describeMachine()}; ${connections} connections, medians of ${rounds} rounds`);
  await measureStarts({ rounds, folder, serve });
  const gardens: Garden[] = [];
  for (const size of sizes) {
    const path = join(folder, `${size}.db`);
    await new SqliteStorage(path).close();
    const known = plantGarden(path, size);
    gardens.push({ size, known, server: await startServerProcess([...serve, `sqlite:${path}`]) });
  }
  for (const garden of gardens.filter(({ size }) => size === 1_000_000)) {
    await measureUnlimitedList(garden.server, user);
  }
  for (const name of Object.keys(operations)) await measureOperation(name, gardens);
  for (const { server } of gardens) await server.stop();
} finally {
  await rm(folder, { recursive: true });
}
