import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import { createServer } from 'node:http';
import { it } from 'node:test';
import { asStorageError } from '../../../src/core/model/errors.ts';
import { collectServiceMetrics } from '../../../src/cli/admin/service-metrics.ts';

it('plant_store_storage_full is 1 from a commit on a full disk until a commit succeeds', () => {
  const format = collectServiceMetrics(createServer());
  const full = Object.assign(new Error('database or disk is full'), { errcode: 13 });
  const states = [new Error('locked'), full, new Error('locked'), undefined].map((error) => {
    const reported = error && asStorageError(error);
    channel('tracing:plant-store:commit:asyncEnd').publish({ durationMs: 1, error: reported });
    return /^plant_store_storage_full (\d)$/m.exec(format(true))?.[1];
  });
  assert.deepEqual(states, ['0', '1', '1', '0']);
});
