import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import { createServer } from 'node:http';
import { it } from 'node:test';
import { asStorageError } from '../../../src/core/model/errors.ts';
import { collectServiceMetrics } from '../../../src/cli/admin/service-metrics.ts';

// The alert rules read the buckets, whose upper bounds are inclusive.
it('plant_store_commit_duration_seconds counts each commit in the buckets that contain its duration', () => {
  const format = collectServiceMetrics(createServer());
  for (const durationMs of [5, 6, 20_000]) channel('tracing:plant-store:commit:asyncEnd').publish({ durationMs });
  const text = format(true);
  const value = (sample: string): number | undefined => {
    const line = text.split('\n').find((each) => each.startsWith(`plant_store_commit_duration_seconds_${sample}} `));
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  };
  const buckets = ['0.005', '0.01', '10', '+Inf'].map((bound) => value(`bucket{le="${bound}"`));
  assert.deepEqual([...buckets, value('sum{'), value('count{')], [1, 2, 2, 3, 20.011, 3]);
});

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
