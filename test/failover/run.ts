import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { issueToken } from '../../src/tokens/issue.ts';
import { startServer } from '../support/command-line.ts';
import { listAll, startModelClients } from '../support/model-clients.ts';
import { PlantModel } from '../support/plant-model.ts';
import { describeMachine, table } from '../support/report.ts';
import { CleanUp } from '../support/temporary-folder.ts';
import { Cluster } from './cluster.ts';
import { scenarios } from './scenarios.ts';
import type { Scenario } from './scenarios.ts';

const user = 'ada';
const quietMs = 3000;
/** How many acknowledged writes show that the service is available again. */
const enoughWrites = 200;
/** How long a failover may take on a slow machine. On the page, Patroni's `ttl` is 30 seconds. */
const failoverMs = 240_000;

function versionOf(program: string): string {
  try {
    const output = execFileSync(program, [program === 'haproxy' ? '-v' : '--version'], { encoding: 'utf8' });
    return `${program} ${/\d+(\.\d+)+/.exec(output)?.[0] ?? ''}`;
  } catch {
    console.log(`Not run: ${program} is missing. Install etcd-server, haproxy, patroni and postgresql from Debian.`);
    process.exit(2);
  }
}

/** Runs a scenario while clients create and delete plants. Compares the plants when all members work again. */
async function runScenario(scenario: Scenario, urls: readonly string[], token: string): Promise<string[]> {
  const { description, mustLose = false } = scenario;
  const clients = startModelClients(model, { urls, tokens: new Map([[user, token]]), clients: 16, pauseMs: 100 });
  const untilAvailable = (): Promise<void> => clients.acknowledgeMore(enoughWrites, failoverMs);
  await sleep(quietMs);
  await scenario.run(cluster, untilAvailable);
  await untilAvailable();
  // The load continues, so that writes are acknowledged while a machine rejoins the cluster.
  await cluster.whenHealthy();
  await sleep(quietMs);
  await clients.stop();
  const { lost, resurrected, phantom } = model.check(user, await listAll(urls[0] ?? '', token));
  const { problems, statuses, longest } = clients;
  const wrong = problems.length + (statuses.get(0) ?? 0);
  if (mustLose ? lost.length === 0 : lost.length + resurrected.length + phantom.length + wrong > 0) {
    process.exitCode = 1;
    for (const problem of problems) console.error(problem);
  }
  return [
    description,
    clients.acknowledged().toLocaleString('en-US'),
    ...[lost, resurrected, phantom].map((plants) => String(plants.length)),
    String(wrong),
    Array.from(statuses, ([status, n]) => `${n.toLocaleString('en-US')} × ${status}`).join(', '),
    ...[longest.gapMs, longest.requestMs].map((ms) => (ms / 1000).toFixed(1)),
  ];
}

async function runAll(): Promise<void> {
  await cluster.start(folder, postgres);
  const { token } = await issueToken(join(folder, 'tokens.json'), { user });
  const starting = cluster.urls.map((url, n) =>
    startServer(cleanUp, [], { cwd: folder, env: { PLANT_STORE_STORAGE: url }, log: `server${n + 1}.log` }),
  );
  const urls = (await Promise.all(starting)).map(({ url }) => url);
  for (const scenario of selected) {
    console.error(`${(performance.now() / 1000).toFixed(0)} s: ${scenario.name}`);
    rows.push(await runScenario(scenario, urls, token));
  }
}

const { values } = parseArgs({ options: { scenario: { type: 'string', multiple: true } } });
const selected = scenarios.filter(({ name }) => values.scenario?.includes(name) ?? true);
if (selected.length === 0) {
  throw new TypeError(`--scenario must be one of ${scenarios.map(({ name }) => name).join(', ')}`);
}
// Debian installs PostgreSQL and HAProxy in folders that are not on most users' PATH.
const postgres = globSync('/usr/lib/postgresql/*/bin').sort().at(-1) ?? '';
process.env['PATH'] = [process.env['PATH'], postgres, '/usr/sbin'].join(':');
const versions = ['etcd', 'haproxy', 'patroni', 'postgres'].map(versionOf).join(', ');
const folder = await mkdtemp(join(tmpdir(), 'plant-store-failover-'));
await chmod(folder, 0o755);
const cluster = new Cluster();
const model = new PlantModel();
const rows: string[][] = [];
const cleanUp = new CleanUp();
cleanUp.after(() => cluster.kill());
const interrupted = Promise.withResolvers<never>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupted.reject);
try {
  await Promise.race([runAll(), interrupted.promise]);
} catch (error) {
  process.exitCode = 1;
  console.error(error);
} finally {
  await cleanUp[Symbol.asyncDispose]();
}
const titles = ['Failure', 'Acknowledged', 'Lost', 'Resurrected', 'Phantom', 'Wrong responses', 'Responses'];
titles.push('Seconds without a success', 'Longest request, seconds');
console.log(`\n${describeMachine()}\n${versions}\n\n${table(titles, rows)}`);
if (process.exitCode === undefined) await rm(folder, { recursive: true });
else console.log(`\nThe files are in ${folder}`);
// Exits explicitly, because clients may still be waiting for responses after a failure.
process.exit();
