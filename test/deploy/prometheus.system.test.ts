import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { readDocument } from '../support/documents.ts';
import { runSuccessfully } from '../support/run-program.ts';
import { root } from '../support/sources.ts';
import { hasProgram } from '../support/system-fault.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const rules = await readDocument('deploy/prometheus/alerts.yml');
const requests = 'plant_store_http_requests_total';

/**
 * Tests in the promtool format. First, the storage fails ten creates after 2 minutes, and works again after 5 minutes.
 * Second, all creates and 39 of 40 deletes fail. Third, the first of six creates fails.
 */
const tests = `
rule_files: [${JSON.stringify(join(root, 'deploy/prometheus/alerts.yml'))}]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - { series: 'plant_store_storage_up', values: '1 1 0 0 0 1' }
      - { series: 'plant_store_tokens_up', values: '1 1 0 0 0 1' }
      - { series: '${requests}{operation="createPlant",status="503",code="storage_unavailable"}', values: '0 0 10x20' }
    promql_expr_test:
      - { expr: &down 'count(ALERTS{alertname=~"PlantStore(Storage|Tokens)Down",alertstate="firing"})', eval_time: 2m }
      - { expr: *down, eval_time: 3m, exp_samples: [{ labels: '{}', value: 2 }] }
      - { expr: *down, eval_time: 5m }
      - { expr: &fails 'count(ALERTS{alertname="PlantStoreStorageFails",alertstate="firing"})', eval_time: 1m }
      - { expr: *fails, eval_time: 2m, exp_samples: [{ labels: '{}', value: 1 }] }
  - interval: 1m
    input_series:
      - { series: '${requests}{operation="createPlant",status="200"}', values: '0x20' }
      - { series: '${requests}{operation="createPlant",status="401",code="invalid_token"}', values: '0+500x20' }
      - { series: '${requests}{operation="createPlant",status="503",code="storage_unavailable"}', values: '0+40x20' }
      - { series: '${requests}{operation="deletePlant",status="204"}', values: '0+1x20' }
      - { series: '${requests}{operation="deletePlant",status="503",code="storage_unavailable"}', values: '0+39x20' }
    promql_expr_test:
      - expr: &writes 'count by (operation) (ALERTS{alertname="PlantStoreWritesFail",alertstate="firing"})'
        eval_time: 3m
        exp_samples:
          - { labels: '{operation="createPlant"}', value: 1 }
          - { labels: '{operation="deletePlant"}', value: 1 }
  - interval: 1m
    input_series:
      - { series: '${requests}{operation="createPlant",status="200"}', values: '0 0 5x20' }
      - { series: '${requests}{operation="createPlant",status="503",code="storage_unavailable"}', values: '0 0 1x20' }
    promql_expr_test:
      - { expr: 'count(ALERTS{alertname="PlantStoreWritesFail"})', eval_time: 2m }
      - { expr: 'count(ALERTS{alertname="PlantStoreWritesFail"})', eval_time: 4m }
`;

it('deploy/prometheus › contains alerts that fire if the storage, the tokens or most writes fail', async (t) => {
  if (!hasProgram(t, 'promtool')) return;
  const configuration = 'deploy/prometheus/prometheus.yml';
  const checked = await runSuccessfully('promtool', ['check', 'config', join(root, configuration)]);
  assert.match(checked, /alerts\.yml\b.*\n.*SUCCESS: \d+ rules found/);
  assert.deepEqual([...new Set(rules.match(/job="[^"]*"/g))], ['job="plant-store"']);
  assert.match(await readDocument(configuration), /^ *- job_name: plant-store$/m);
  const file = join(await temporaryFolder(t), 'tests.yml');
  await writeFile(file, tests);
  await runSuccessfully('promtool', ['test', 'rules', file]);
});

it('deploy/prometheus › contains only rules and metrics that docs/operations.md explains', async () => {
  const guide = await readDocument('docs/operations.md');
  const names = rules.match(/(?<=- alert: )\w+|\bplant_store_\w+?(?=_bucket\b|\b)/g) ?? [];
  assert.ok(names.length > 10);
  for (const name of names) assert.ok(guide.includes(name), name);
});
