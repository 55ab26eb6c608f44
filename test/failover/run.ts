import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { issueToken } from '../../src/tokens/issue.ts';
import { logTo, startServer } from '../support/command-line.ts';
import { eventually, eventuallyEqual } from '../support/eventually.ts';
import { PlantModel, listAll, startModelClients } from '../support/model-clients.ts';
import { describeMachine, table } from '../support/report.ts';
import { CleanUp } from '../support/temporary-folder.ts';
import { Cluster } from './cluster.ts';

const user = 'ada';
const quietMs = 3000;
/** How many acknowledged writes show that the service is available again. */
const enoughWrites = 200;
/** How long a failover may take on a slow machine. Patroni's `ttl` is 30 seconds. */
const failoverMs = 240_000;

type UntilAvailable = () => Promise<void>;

/**
 * Each scenario makes a part of the cluster fail, then restores it. `untilAvailable` resolves when the servers can
 * write again.
 */
const scenarios: Readonly<Record<string, (untilAvailable: UntilAvailable) => Promise<void>>> = {
  kill: async (untilAvailable) => {
    await (await cluster.leader()).killDatabase();
    await untilAvailable();
    cluster.startPatroni();
  },
  switchover: async () => {
    const leader = await cluster.leader();
    assert.match(await leader.patronictl('switchover', '--leader', leader.name), /Successfully switched over/);
  },
  freeze: async () => {
    const primary = await cluster.leader();
    primary.signalDatabase('SIGSTOP');
    await sleep(12_000);
    primary.signalDatabase('SIGCONT');
  },
  etcd: async () => {
    await Promise.all(cluster.machines.map(({ etcd }) => etcd.kill()));
    await sleep(60_000);
    for (const { etcd } of cluster.machines) etcd.start();
  },
  standbys: killStandbysThenPrimary,
  // This scenario must lose plants, which shows that the others would detect a loss. It is last, because it changes a
  // setting.
  control: async (untilAvailable) => {
    const leader = await cluster.leader();
    await leader.patronictl('edit-config', '--pg', 'synchronous_commit=local');
    // Patroni applies a setting after `loop_wait`, 10 seconds.
    await eventuallyEqual(() => leader.query('SHOW synchronous_commit'), 'local\n', 120_000);
    await killStandbysThenPrimary(untilAvailable);
  },
};

/**
 * Kills the standbys first, because on one machine, each commit reaches running standbys immediately. The primary can
 * be ahead only while the standbys are down. If Patroni noticed that the standbys are down, it would not promote one of
 * them afterwards. Therefore, the primary's Patroni is frozen until it is killed.
 */
async function killStandbysThenPrimary(untilAvailable: UntilAvailable): Promise<void> {
  const primary = await cluster.leader();
  const standbys = cluster.machines.filter((machine) => machine !== primary);
  primary.patroni.signal('SIGSTOP');
  await Promise.all(standbys.map((standby) => standby.killDatabase()));
  await sleep(2000);
  await primary.killDatabase();
  for (const { patroni } of standbys) patroni.start();
  await untilAvailable();
  cluster.startPatroni();
}

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
async function runScenario(name: string, urls: readonly string[], token: string): Promise<string[]> {
  const clients = startModelClients({ urls, tokens: new Map([[user, token]]), clients: 16, model, pauseMs: 100 });
  const untilAvailable = (): Promise<void> => clients.acknowledgeMore(enoughWrites, failoverMs);
  await sleep(quietMs);
  await scenarios[name]?.(untilAvailable);
  await untilAvailable();
  // The load continues, so that writes are acknowledged while a machine rejoins the cluster.
  await cluster.whenHealthy();
  await sleep(quietMs);
  await clients.stop();
  // On a slow machine, HAProxy may close the connections again, because a check took more than 3 seconds.
  const listed = await eventually(() => listAll(urls[0] ?? '', token), failoverMs);
  const { lost, resurrected, phantom } = model.check(user, listed);
  const { problems, statuses, longest } = clients;
  const wrong = problems.length + (statuses.get(0) ?? 0);
  if (name === 'control' ? lost.length === 0 : lost.length + resurrected.length + phantom.length + wrong > 0) {
    process.exitCode = 1;
    for (const problem of problems) console.error(problem);
  }
  return [
    name,
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
    startServer(cleanUp, [], { cwd: folder, env: { PLANT_STORE_STORAGE: url }, wrapper: logTo(`server${n + 1}.log`) }),
  );
  const urls = (await Promise.all(starting)).map(({ url }) => url);
  for (const name of selected) {
    console.error(`${(performance.now() / 1000).toFixed(0)} s: ${name}`);
    rows.push(await runScenario(name, urls, token));
  }
}

const all = Object.keys(scenarios);
const selected = process.argv.length === 2 ? all : all.filter((name) => process.argv.includes(name));
if (selected.length === 0) throw new TypeError(`The arguments must be scenarios: ${all.join(', ')}`);
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
const interrupted = new Promise((_, reject) => process.once('SIGINT', reject).once('SIGTERM', reject));
try {
  await Promise.race([runAll(), interrupted]);
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
