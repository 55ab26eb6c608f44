import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, globSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { issueToken } from '../../src/tokens/issue.ts';
import { describeMachine, table } from '../bench/publish.ts';
import { listAll, startModelClients } from '../support/model-clients.ts';
import { PlantModel } from '../support/plant-model.ts';
import { untilListening } from '../support/server-process.ts';
import { root } from '../support/sources.ts';
import { CleanUp } from '../support/temporary-folder.ts';
import { Cluster } from './cluster.ts';
import type { Programs } from './cluster.ts';
import { readPageConfiguration } from './page.ts';
import { fail, scenarios } from './scenarios.ts';
import type { Scenario } from './scenarios.ts';

const maxMs = 720_000;
const quietMs = 3000;
/** How long the cluster may take until it has a leader and two standbys again. */
const recoveryMs = 120_000;
const numeric = new Intl.Collator('en', { numeric: true });

/** The programs of a cluster. Each has the Debian package that contains it and the option that prints its version. */
const requirements = {
  etcd: ['etcd-server', '--version'],
  haproxy: ['haproxy', '-v'],
  patroni: ['patroni', '--version'],
  postgres: ['postgresql', '--version'],
} as const;
const programNames = Object.keys(requirements) as (keyof Programs)[];

function find(name: string): string | undefined {
  const postgres = globSync('/usr/lib/postgresql/*/bin').sort((one, other) => numeric.compare(other, one));
  // Debian installs PostgreSQL and HAProxy in folders that are not on most users' PATH.
  const folders = [...postgres, ...(process.env['PATH'] ?? '').split(':'), '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Returns the version that a program prints, such as `4.1.4`. */
function versionOf(name: keyof Programs): string {
  const { stdout } = spawnSync(programs[name], [requirements[name][1]], { encoding: 'utf8' });
  return /\d+(\.\d+)+/.exec(stdout)?.[0] ?? 'unknown';
}

/** Starts the built package's `plant-store serve` with a connection string. Returns the server's URL. */
async function startServer(storage: string, log: string): Promise<string> {
  const output = openSync(join(folder, log), 'a');
  const options = ['serve', '--port', '0', '--tokens', 'tokens.json', '--log', 'json'];
  // Passes the connection string in the environment, because every user can read the arguments of a process.
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
  // With so many ids, a client rarely reuses the id of a plant that may have been lost.
  const load = { urls, tokens, clients: 16, idsEach: 3000, pauseMs: 100 };
  const clients = startModelClients(model, load);
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
    isPassed = false;
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
  await cluster.start(page);
  const tokens = selected.map(({ name }) => issueToken(join(folder, 'tokens.json'), { user: name }).token);
  const urls = await Promise.all(cluster.proxies.map(({ storage }, n) => startServer(storage, `server${n + 1}.log`)));
  for (const [index, scenario] of selected.entries()) {
    console.error(`${((performance.now() - startedAt) / 1000).toFixed(0)} s: ${scenario.name}`);
    rows.push(await runScenario(scenario, urls, tokens[index] ?? ''));
  }
}

/** Rejects if the run is interrupted or takes too long. */
async function stopped(): Promise<never> {
  const reason = await Promise.race([
    sleep(maxMs, `The run takes longer than ${maxMs / 1000} seconds.`, { ref: false }),
    ...(['SIGINT', 'SIGTERM'] as const).map((signal) => once(process, signal).then(() => signal)),
  ]);
  throw new Error(reason);
}

const { values } = parseArgs({ options: { scenario: { type: 'string', multiple: true } } });
const known = scenarios.map(({ name }) => name);
const unknown = values.scenario?.find((name) => !known.includes(name));
if (unknown !== undefined) throw new TypeError(`--scenario must be one of ${known.join(', ')}, and not ${unknown}`);
const missing = programNames.filter((name) => find(name) === undefined);
if (missing.length > 0) {
  console.log(`Not run: these Debian packages are missing: ${missing.map((name) => requirements[name][0]).join(' ')}`);
  process.exit(2);
}
const programs = Object.fromEntries(programNames.map((name) => [name, find(name)])) as Programs;
const patroni = versionOf('patroni');
const selected = scenarios.filter(({ name, oldestPatroni = '0' }) => {
  // A scenario that `--scenario` selects runs with any version.
  if (values.scenario !== undefined) return values.scenario.includes(name);
  if (numeric.compare(patroni, oldestPatroni) >= 0) return true;
  console.log(`Not run: ${name}, because Patroni is ${patroni}, and not ${oldestPatroni} or newer`);
  return false;
});

const startedAt = performance.now();
const folder = await mkdtemp(join(tmpdir(), 'plant-store-failover-'));
const page = await readPageConfiguration();
const cluster = await Cluster.prepare(folder, programs, page);
const rows: string[][] = [];
const cleanUp = new CleanUp();
cleanUp.after(() => cluster.kill());
let isPassed = true;
try {
  await Promise.race([runAll(), stopped()]);
} catch (error) {
  isPassed = false;
  console.error(error);
} finally {
  await cleanUp[Symbol.asyncDispose]();
}
const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
const versions = programNames.map((name) => `${name} ${versionOf(name)}`).join(', ');
const titles = ['Failure', 'Acknowledged', 'Lost', 'Resurrected', 'Phantom', 'Wrong responses', 'Responses'];
titles.push('Seconds without a success', 'Longest request, seconds');
const load = `load average ${loadavg()[0]?.toFixed(1) ?? ''}`;
console.log(`\n${describeMachine()}; ${load}; ${minutes} minutes\n${versions}\n\n${table(titles, rows)}`);
if (isPassed) await rm(folder, { recursive: true });
else console.log(`\nThe files are in ${folder}`);
// Exits explicitly, because clients may still be waiting for responses after a failure.
process.exit(isPassed ? 0 : 1);
