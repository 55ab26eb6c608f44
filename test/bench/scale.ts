import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createPlantStoreDatabase, randomId, writeTokenFile } from './data-set.ts';
import { createExchange, plantStoreDialect } from './dialect.ts';
import { runLoad } from './load.ts';
import type { Exchange } from './load.ts';
import { describeMachine, median, quantile, ratio } from './report.ts';
import { requestText } from './requests.ts';
import { startServerProcess } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';
import { measureUnlimitedList } from './unlimited-list.ts';

const { values } = parseArgs({
  options: { sizes: { type: 'string', default: '10000,1000000,5000000' }, rounds: { type: 'string', default: '7' } },
});
const sizes = values.sizes.split(',').map(Number);
const rounds = Number(values.rounds);
const connections = 64;
/** Few, so that the smallest database stays small. The plants that are created are deleted later. */
const requestsPerRound = 4000;

/** The owner of all plants. */
const user = 'ada';

/** A server with a given number of plants. */
interface SizedServer {
  readonly size: number;
  readonly server: ServerProcess;
  /** Ids of stored plants, in random order. */
  readonly knownIds: number[];
}

/**
 * Creates a database, and returns some of its ids in random order. It inserts two thirds of the ids in
 * ascending order, then the rest between them. The pages of the file are then as full as if all ids
 * had been random, but this takes only seconds.
 */
async function createDatabase(path: string, size: number): Promise<number[]> {
  const known: number[] = [];
  await createPlantStoreDatabase(path, function* () {
    for (const count of [Math.round((size * 2) / 3), Math.round(size / 3)]) {
      for (let n = 0; n < count; n++) {
        const id = Math.floor((n + Math.random()) * (2 ** 52 / count));
        if (n % Math.ceil(size / 50_000) === 0) known.push(id);
        yield [user, id, n] as const;
      }
    }
  });
  for (let n = known.length - 1; n > 0; n--) {
    const other = Math.floor(Math.random() * (n + 1));
    [known[n], known[other]] = [known[other] ?? 0, known[n] ?? 0];
  }
  return known;
}

const operations: Record<string, (sized: SizedServer) => () => Exchange | undefined> = {
  create:
    ({ knownIds }) =>
    () => {
      const id = randomId();
      knownIds.push(id);
      return createExchange(user, id, { name: 'Fern', tag: 'indoor' }, plantStoreDialect);
    },
  'list 20': () => () => ({
    request: requestText('GET', `/plants?limit=20&after=${randomId()}`, user),
    status: 200,
  }),
  delete:
    ({ knownIds }) =>
    () => {
      const id = knownIds.pop();
      return id === undefined ? undefined : { request: requestText('DELETE', `/plants/${id}`, user), status: 204 };
    },
};

async function measureOperation(name: string, servers: readonly SizedServer[]): Promise<void> {
  const series = servers.map((sized) => ({
    sized,
    next: operations[name]?.(sized),
    cpu: [] as number[],
    p99: [] as number[],
  }));
  for (let round = -1; round < rounds; round++) {
    for (const { sized, next, cpu, p99 } of series) {
      if (next === undefined) continue;
      const before = await sized.server.usage();
      let remaining = requestsPerRound;
      const load = await runLoad({
        port: sized.server.port,
        connections,
        milliseconds: Infinity,
        next: () => (remaining-- > 0 ? next() : undefined),
      });
      const after = await sized.server.usage();
      if (round < 0) continue;
      cpu.push((after.cpuMicros - before.cpuMicros) / load.requests);
      p99.push(quantile(load.latencies, 0.99));
    }
  }
  const smallest = median(series[0]?.cpu ?? []);
  for (const { sized, cpu, p99 } of series) {
    const figures = [
      `${median(cpu).toFixed(1)} µs`,
      `× ${ratio(median(cpu), smallest)}`,
      `p99 ${median(p99).toFixed(1)} ms`,
    ];
    console.log(`${name.padEnd(8)} ${String(sized.size).padStart(9)} plants: ${figures.join(', ')}`);
  }
}

const folder = await mkdtemp(join(tmpdir(), 'plant-store-scale-'));
const tokens = join(folder, 'tokens.json');
await writeTokenFile(tokens);
const serve = ['dist/tools/cli/main.js', 'serve', '--port', '0', '--log', 'off', '--tokens', tokens, '--storage'];
try {
  console.log(`${describeMachine()}; ${connections} connections, medians of ${rounds} rounds`);
  const servers: SizedServer[] = [];
  for (const size of sizes) {
    const path = join(folder, `${size}.db`);
    const knownIds = await createDatabase(path, size);
    servers.push({ size, knownIds, server: await startServerProcess([...serve, `sqlite:${path}`]) });
  }
  for (const sized of servers.filter(({ size }) => size === 1_000_000)) await measureUnlimitedList(sized.server, user);
  for (const name of Object.keys(operations)) await measureOperation(name, servers);
  for (const { server } of servers) await server.stop();
} finally {
  await rm(folder, { recursive: true });
}
