import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { root } from '../support/sources.ts';
import { hasProgram } from '../support/system-fault.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const rulesFile = join(root, 'deploy/prometheus/alerts.yml');
const configFile = join(root, 'deploy/prometheus/prometheus.yml');

/**
 * A test in the promtool format. The storage fails ten creates after 2 minutes, and works again after 5 minutes. From
 * minute 20 on, creates fail; from minute 31 on, no delete succeeds.
 */
const storageFailure = `
rule_files: [${JSON.stringify(rulesFile)}]
tests:
  - interval: 1m
    input_series:
      - { series: 'plant_store_storage_up{job="plant-store"}', values: '1 1 0 0 0 1' }
      - series: 'plant_store_http_requests_total{operation="createPlant",status="503",code="storage_unavailable"}'
        values: '0 0 10x17 11+1x40'
      - series: 'plant_store_http_requests_total{operation="deletePlant",status="204"}'
        values: '0+1x30 30x30'
    promql_expr_test:
      - { expr: &down 'count(ALERTS{alertname="PlantStoreStorageDown",alertstate="firing"})', eval_time: 2m }
      - { expr: *down, eval_time: 3m, exp_samples: [{ labels: '{}', value: 1 }] }
      - { expr: *down, eval_time: 5m }
      - { expr: &fails 'count(ALERTS{alertname="PlantStoreStorageFails",alertstate="firing"})', eval_time: 1m }
      - { expr: *fails, eval_time: 2m, exp_samples: [{ labels: '{}', value: 1 }] }
      - { expr: &writes 'count(ALERTS{alertname="PlantStoreWritesFail",alertstate="firing"})', eval_time: 44m }
      - { expr: *writes, eval_time: 50m, exp_samples: [{ labels: '{}', value: 1 }] }
`;

/** Runs promtool, and asserts that it succeeds. */
function runPromtool(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  return stdout + stderr;
}

it('deploy/prometheus › contains a configuration that loads the alert rules and sets the job name', async (t) => {
  if (!hasProgram(t, 'promtool')) return;
  assert.match(runPromtool('check', 'config', configFile), /alerts\.yml\b.*\n.*SUCCESS: \d+ rules found/);
  const jobs = (await readFile(rulesFile, 'utf8')).match(/job="[^"]*"/g) ?? [];
  assert.deepEqual([...new Set(jobs)], ['job="plant-store"']);
  assert.match(await readFile(configFile, 'utf8'), /^ *- job_name: plant-store$/m);
});

it('deploy/prometheus › contains rules that fire after the first failures, and while no write succeeds', async (t) => {
  if (!hasProgram(t, 'promtool')) return;
  const tests = join(await temporaryFolder(t), 'tests.yml');
  await writeFile(tests, storageFailure);
  runPromtool('test', 'rules', tests);
});

it('deploy/prometheus › contains only rules and metrics that docs/operations.md explains', async () => {
  const guide = await readFile(join(root, 'docs/operations.md'), 'utf8');
  const rules = await readFile(rulesFile, 'utf8');
  const names = Array.from(
    rules.matchAll(/- alert: (\w+)|\b(plant_store_\w+?)(?:_bucket)?\b/g),
    ([, rule, metric]) => rule ?? metric ?? '',
  );
  assert.ok(names.length > 10);
  for (const name of names) assert.ok(guide.includes(name), name);
});
