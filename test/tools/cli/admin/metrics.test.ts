import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatMetrics, Tally } from '../../../../src/tools/cli/admin/metrics.ts';

describe('metrics in the Prometheus text format', () => {
  it('contain values and cumulative buckets with inclusive upper bounds, but no metrics without samples', () => {
    const tally = new Tally([1, 10]);
    for (const value of [0, 1, 1.5, 10, 11]) tally.add({}, value);
    const text = formatMetrics([
      ['gauge', 'a', 'A.', 0.5],
      ['gauge', 'files', 'Files.', undefined],
      ['counter', 'none_total', 'None.', new Tally()],
      ['histogram', 'none', 'None.', new Tally([1])],
      ['histogram', 'height', 'Height.', tally],
    ]);
    assert.deepEqual(text.split('\n'), [
      '# HELP a A.',
      '# TYPE a gauge',
      'a 0.5',
      '# HELP height Height.',
      '# TYPE height histogram',
      'height_bucket{le="1"} 2',
      'height_bucket{le="10"} 4',
      'height_bucket{le="+Inf"} 5',
      'height_sum 23.5',
      'height_count 5',
      '',
    ]);
  });
});
