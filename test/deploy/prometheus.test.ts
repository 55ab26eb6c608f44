import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { root } from '../support/sources.ts';
import { hasProgram } from '../support/system-fault.ts';

const file = join(root, 'deploy/prometheus/alerts.yml');

describe('deploy/prometheus', () => {
  it('contains alert rules that promtool accepts', (t) => {
    if (!hasProgram(t, 'promtool')) return;
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
  });

  it('uses only metrics that the documentation describes', async () => {
    const described = await readFile(join(root, 'docs/operations.md'), 'utf8');
    const used = (await readFile(file, 'utf8')).match(/\b(?:plant_store|process)_\w+/g) ?? [];
    assert.ok(used.length > 5);
    for (const name of used) assert.ok(described.includes(name.replace(/_bucket$/, '')), name);
  });
});
