import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/listen.ts';
import { untilListening } from '../support/server-process.ts';
import { root } from '../support/sources.ts';
import { hasProgram } from '../support/system-fault.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';
import { adminUrlOf, startTokenServer } from '../support/token-server.ts';

const file = join(root, 'deploy/prometheus/alerts.yml');
const configFile = join(root, 'deploy/prometheus/prometheus.yml');

/**
 * A test of one alert rule, in the promtool format. The storage fails after 2 minutes and works again after 5 minutes.
 */
const storageFailure = `
rule_files: [${JSON.stringify(file)}]
tests:
  - interval: 1m
    input_series:
      - { series: 'plant_store_storage_up{job="plant-store"}', values: '1 1 0 0 0 1' }
    promql_expr_test:
      - { expr: &firing 'count(ALERTS{alertname="PlantStoreStorageDown",alertstate="firing"})', eval_time: 2m }
      - { expr: *firing, eval_time: 3m, exp_samples: [{ labels: '{}', value: 1 }] }
      - { expr: *firing, eval_time: 5m }
`;

/** Runs promtool, and asserts that it succeeds. */
function runPromtool(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  return stdout + stderr;
}

/**
 * Starts Prometheus with the configuration in deploy/, in which every interval and duration is 15 times shorter.
 * Resolves when Prometheus has scraped the server once. The returned function waits until an alert fires.
 */
async function startPrometheus(t: HasAfter, adminUrl: string): Promise<(alert: string) => Promise<void>> {
  const folder = await temporaryFolder(t);
  const faster = (text: string): string =>
    text.replaceAll(/\b(\d+)([ms])\b/g, (_, count: string, unit: string) => {
      return `${(Number(count) * (unit === 'm' ? 60 : 1)) / 15}s`;
    });
  const config = faster(await readFile(configFile, 'utf8')).replace('127.0.0.1:9000', new URL(adminUrl).host);
  await writeFile(join(folder, 'prometheus.yml'), `global: { evaluation_interval: 4s }\n${config}`);
  await writeFile(join(folder, 'alerts.yml'), faster(await readFile(file, 'utf8')));
  const listening = `--web.listen-address=127.0.0.1:${await freePort()}`;
  const args = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`, listening];
  const child = spawn('prometheus', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const { url } = await untilListening(t, child, /Start listening for connections" address=127\.0\.0\.1:(\d+)/);
  const query = async (expression: string): Promise<unknown[]> => {
    const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`);
    return ((await response.json()) as { data: { result: unknown[] } }).data.result;
  };
  await eventually(async () => {
    assert.equal((await query('up == 1')).length, 1);
  }, 20_000);
  return (alert) =>
    eventually(async () => {
      assert.equal((await query(`ALERTS{alertname="${alert}",alertstate="firing"}`)).length, 1);
    }, 15_000);
}

describe('deploy/prometheus', () => {
  it('contains a rule that fires after the first ten failures of the storage', async (t) => {
    if (!hasProgram(t, 'prometheus')) return;
    const { cwd, server, create } = await startTokenServer(t, ['--admin-port', '0']);
    const untilFiring = await startPrometheus(t, await adminUrlOf(server));
    for (const ending of ['', '-wal', '-shm']) await rm(join(cwd, `plants.db${ending}`));

    for (let id = 1; id <= 10; id++) assert.equal((await create(id)).status, 503);

    await untilFiring('PlantStoreStorageFails');
  });

  it('contains a configuration that loads the alert rules and sets the job name', async (t) => {
    if (!hasProgram(t, 'promtool')) return;
    assert.match(runPromtool('check', 'config', configFile), /alerts\.yml\b.*\n.*SUCCESS: \d+ rules found/);
    const jobs = (await readFile(file, 'utf8')).match(/job="[^"]*"/g) ?? [];
    assert.deepEqual([...new Set(jobs)], ['job="plant-store"']);
    assert.match(await readFile(configFile, 'utf8'), /^ *- job_name: plant-store$/m);
  });

  it('contains a rule that fires while the storage is down', async (t) => {
    if (!hasProgram(t, 'promtool')) return;
    const tests = join(await temporaryFolder(t), 'tests.yml');
    await writeFile(tests, storageFailure);
    runPromtool('test', 'rules', tests);
  });

  it('contains only rules and metrics that docs/operations.md explains', async () => {
    const guide = await readFile(join(root, 'docs/operations.md'), 'utf8');
    const rules = await readFile(file, 'utf8');
    const names = Array.from(
      rules.matchAll(/- alert: (\w+)|\b(plant_store_\w+?)(?:_bucket)?\b/g),
      ([, rule, metric]) => rule ?? metric ?? '',
    );
    assert.ok(names.length > 10);
    for (const name of names) assert.ok(guide.includes(name), name);
  });
});
