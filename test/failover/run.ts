import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { issueToken } from '../../src/tokens/issue.ts';
import { describeMachine } from '../bench/publish.ts';
import { untilListening } from '../support/server-process.ts';
import { root } from '../support/sources.ts';
import { CleanUp } from '../support/temporary-folder.ts';
import { Cluster } from './cluster.ts';
import { readPageConfiguration } from './page.ts';
import { findPrograms, findVersions } from './requirements.ts';
import { isCorrect, runScenario, tableOf } from './run-scenario.ts';
import type { ScenarioResult } from './run-scenario.ts';
import { control, descriptions, oldestPatroni, scenarios } from './scenarios.ts';
import type { ScenarioName } from './scenarios.ts';

const { values } = parseArgs({ options: { scenario: { type: 'string', multiple: true } } });
const requested = (values.scenario ?? Object.keys(scenarios)) as ScenarioName[];
const unknown = requested.find((name) => !Object.hasOwn(scenarios, name));
if (unknown !== undefined) {
  throw new TypeError(`--scenario must be one of ${Object.keys(scenarios).join(', ')}, and not ${unknown}`);
}
const found = findPrograms();
if ('missing' in found) {
  console.log(`Not run: these Debian packages are missing: ${found.missing.join(' ')}`);
  process.exit(2);
}
const versions = findVersions(found.programs);
const byNumbers = new Intl.Collator('en', { numeric: true });
const names = requested.filter((name) => {
  const oldest = oldestPatroni[name] ?? '0';
  // A scenario that `--scenario` selects runs with any version.
  if (values.scenario !== undefined || byNumbers.compare(versions.patroni, oldest) >= 0) return true;
  console.log(`Not run: ${name}, because Patroni is ${versions.patroni}, and not ${oldest} or newer`);
  return false;
});

const startedAt = performance.now();
const maxMs = 720_000;
const folder = await mkdtemp(join(tmpdir(), 'plant-store-failover-'));
const page = await readPageConfiguration();
const cluster = await Cluster.prepare(folder, found.programs, page);
const results = new Map<string, ScenarioResult>();
const cleanUp = new CleanUp();
cleanUp.after(() => cluster.kill());

async function runAll(): Promise<void> {
  await cluster.start(page);
  progress('the cluster is ready');
  const tokens = names.map((user) => issueToken(join(folder, 'tokens.json'), { user }).token);
  const urls = await Promise.all(cluster.proxies.map(({ storage }, n) => startServer(storage, `server${n + 1}.log`)));
  for (const [index, name] of names.entries()) {
    const token = tokens[index] ?? '';
    const result = await runScenario(scenarios[name], { cluster, urls, user: name, token });
    results.set(descriptions[name], result);
    progress(name);
    if (name !== control) for (const problem of result.clients.problems) console.error(problem);
  }
}

/** Starts the built package's `plant-store serve` with a connection string. Returns the server's URL. */
async function startServer(storage: string, log: string): Promise<string> {
  const output = openSync(join(folder, log), 'a');
  const serve = [
    join(root, 'dist/tools/cli/main.js'),
    'serve',
    '--port',
    '0',
    '--tokens',
    'tokens.json',
    '--log',
    'json',
  ];
  // Passes the connection string in the environment, because every user can read the arguments of a process.
  const child = spawn(process.execPath, serve, {
    cwd: folder,
    stdio: ['ignore', 'pipe', output],
    env: { ...process.env, PLANT_STORE_STORAGE: storage },
  });
  closeSync(output);
  return (await untilListening(cleanUp, child, /^Plant Store listening on (\S+)\n/m)).url;
}

function progress(text: string): void {
  console.error(`${((performance.now() - startedAt) / 1000).toFixed(0)} s: ${text}`);
}

/** Rejects if the run is interrupted or takes too long. */
async function stopped(): Promise<never> {
  const reason = await Promise.race([
    sleep(maxMs, `The run takes longer than ${maxMs / 1000} seconds.`, { ref: false }),
    ...(['SIGINT', 'SIGTERM'] as const).map((signal) => once(process, signal).then(() => signal)),
  ]);
  throw new Error(reason);
}

let isComplete = true;
try {
  await Promise.race([runAll(), stopped()]);
} catch (error) {
  isComplete = false;
  console.error(error);
} finally {
  await cleanUp[Symbol.asyncDispose]();
}
const isPassed =
  isComplete &&
  [...results].every(([name, result]) => (name === descriptions[control] ? result.lost.length > 0 : isCorrect(result)));
const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
const load = `load average ${loadavg()[0]?.toFixed(1) ?? ''}`;
const programs = `Patroni ${versions.patroni}, PostgreSQL ${versions.postgres}, etcd ${versions.etcd}, HAProxy ${versions.haproxy}`;
console.log(`\n${describeMachine()}; ${load}; ${minutes} minutes\n${programs}\n\n${tableOf(results)}`);
if (isPassed) await rm(folder, { recursive: true });
else console.log(`\nThe files are in ${folder}`);
// Exits explicitly, because clients may still be waiting for responses after a failure.
process.exit(isPassed ? 0 : 1);
