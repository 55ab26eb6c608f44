import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, globSync, openSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { issueToken } from '../../src/tokens/issue.ts';
import { listAll, startModelClients } from '../support/model-clients.ts';
import { PlantModel } from '../support/plant-model.ts';
import { describeMachine, table } from '../support/report.ts';
import { untilListening } from '../support/server-process.ts';
import { root } from '../support/sources.ts';
import { CleanUp } from '../support/temporary-folder.ts';
import { Cluster } from './cluster.ts';
import type { Programs } from './cluster.ts';
import { fail, scenarios } from './scenarios.ts';
import type { Scenario } from './scenarios.ts';

const maxMs = 720_000;
const quietMs = 3000;
/** How long the cluster may take until it has a leader and two standbys again. */
const recoveryMs = 120_000;

/** The programs of a cluster, with the Debian packages that contain them. */
const packages = { etcd: 'etcd-server', haproxy: 'haproxy', patroni: 'patroni', postgres: 'postgresql' };
const programNames = Object.keys(packages) as (keyof Programs)[];

function find(name: string): string | undefined {
  // Debian installs PostgreSQL and HAProxy in folders that are not on most users' PATH.
  const postgres = globSync('/usr/lib/postgresql/*/bin').sort().reverse();
  const folders = [...postgres, ...(process.env['PATH'] ?? '').split(':'), '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Starts the built package's `plant-store serve` with a connection string. Returns the server's URL. */
async function startServer(storage: string, log: string): Promise<string> {
  const output = openSync(join(folder, log), 'a');
  const options = ['serve', '--port', '0', '--tokens', 'tokens.json'];
  const child = spawn(process.execPath, [join(root, 'dist/tools/cli/main.js'), ...options], {
    cwd: folder,
    stdio: ['ignore', 'pipe', output],
    env: { ...process.env, PLANT_STORE_STORAGE: storage },
  });
  closeSync(output);
  return (await untilListening(cleanUp, child, /^Plant Store listening on (\S+)\n/m)).url;
}

/** Runs a scenario while clients create and delete plants. Compares the plants when all members work again. */
async function runScenario(scenario: Scenario, urls: readonly string[], token: string): Promise<string[]> {
  const model = new PlantModel();
  const tokens = new Map([[scenario.name, token]]);
  const clients = startModelClients(model, { urls, tokens, clients: 16, pauseMs: 100 });
  await sleep(quietMs);
  await fail(scenario, cluster, clients);
  // The load continues, so that writes are acknowledged while a machine rejoins the cluster.
  await cluster.whenHealthy(recoveryMs);
  await sleep(quietMs);
  await clients.stop();
  const { lost, resurrected, phantom } = model.check(scenario.name, await listAll(urls[0] ?? '', token));
  const { problems, statuses, longest } = clients;
  const wrong = problems.length + (statuses.get(0) ?? 0);
  if (scenario.mustLose === true ? lost.length === 0 : lost.length + resurrected.length + phantom.length + wrong > 0) {
    process.exitCode = 1;
    for (const problem of problems) console.error(problem);
  }
  return [
    scenario.description,
    clients.acknowledged().toLocaleString('en-US'),
    ...[lost, resurrected, phantom].map((plants) => String(plants.length)),
    String(wrong),
    Array.from(statuses, ([status, n]) => `${n.toLocaleString('en-US')} × ${status}`).join(', '),
    ...[longest.gapMs, longest.requestMs].map((ms) => (ms / 1000).toFixed(1)),
  ];
}

async function runAll(): Promise<void> {
  await cluster.start();
  const tokens = selected.map(({ name }) => issueToken(join(folder, 'tokens.json'), { user: name }).token);
  const urls = await Promise.all(cluster.proxies.map(({ storage }, n) => startServer(storage, `server${n + 1}.log`)));
  for (const [index, scenario] of selected.entries()) {
    console.error(`${(performance.now() / 1000).toFixed(0)} s: ${scenario.name}`);
    rows.push(await runScenario(scenario, urls, tokens[index] ?? ''));
  }
}

const { values } = parseArgs({ options: { scenario: { type: 'string', multiple: true } } });
const selected = scenarios.filter(({ name, isOptional }) => values.scenario?.includes(name) ?? isOptional !== true);
if (selected.length === 0) {
  throw new TypeError(`--scenario must be one of ${scenarios.map(({ name }) => name).join(', ')}`);
}
const missing = programNames.filter((name) => find(name) === undefined);
if (missing.length > 0) {
  console.log(`Not run: these Debian packages are missing: ${missing.map((name) => packages[name]).join(' ')}`);
  process.exit(2);
}
const programs = Object.fromEntries(programNames.map((name) => [name, find(name)])) as Programs;
const folder = await mkdtemp(join(tmpdir(), 'plant-store-failover-'));
await chmod(folder, 0o755);
const cluster = new Cluster(folder, programs);
const rows: string[][] = [];
const cleanUp = new CleanUp();
cleanUp.after(() => cluster.kill());
const interrupted = Promise.withResolvers<never>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupted.reject);
setTimeout(() => {
  interrupted.reject(new Error(`The run takes longer than ${maxMs / 1000} seconds.`));
}, maxMs);
try {
  await Promise.race([runAll(), interrupted.promise]);
} catch (error) {
  process.exitCode = 1;
  console.error(error);
} finally {
  await cleanUp[Symbol.asyncDispose]();
}
const versions = programNames.map((name) => {
  const { stdout } = spawnSync(programs[name], [name === 'haproxy' ? '-v' : '--version'], { encoding: 'utf8' });
  return `${name} ${/\d+(\.\d+)+/.exec(stdout)?.[0] ?? ''}`;
});
const titles = ['Failure', 'Acknowledged', 'Lost', 'Resurrected', 'Phantom', 'Wrong responses', 'Responses'];
titles.push('Seconds without a success', 'Longest request, seconds');
console.log(`\n${describeMachine()}\n${versions.join(', ')}\n\n${table(titles, rows)}`);
if (process.exitCode === undefined) await rm(folder, { recursive: true });
else console.log(`\nThe files are in ${folder}`);
// Exits explicitly, because clients may still be waiting for responses after a failure.
process.exit();
