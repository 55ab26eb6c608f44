import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Histogram } from '../../../src/cli/admin/metrics.ts';

describe('Histogram', () => {
  it('counts a duration in each bucket whose bound it does not exceed', () => {
    const histogram = new Histogram();
    for (const seconds of [0.001, 0.25, 60]) histogram.add('operation="getPlants"', seconds);
    const samples = histogram.samples().map((sample) => sample.replace('operation="getPlants"', '…'));
    for (const expected of ['_bucket{…,le="0.001"} 1', '_bucket{…,le="0.1"} 1', '_bucket{…,le="0.25"} 2']) {
      assert.ok(samples.includes(expected), expected);
    }
    assert.deepEqual(samples.slice(-3), ['_bucket{…,le="+Inf"} 3', '_sum{…} 60.251', '_count{…} 3']);
  });
});
