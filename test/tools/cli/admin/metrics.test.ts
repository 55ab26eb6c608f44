import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatMetrics, Tally } from '../../../../src/tools/cli/admin/metrics.ts';

describe('metrics in the Prometheus text format', () => {
  it('contain the cumulative buckets of a histogram, which include their upper bounds', () => {
    const tally = new Tally([1, 10]);
    for (const value of [0, 1, 1.5, 10, 11]) tally.add({}, value);
    assert.deepEqual(formatMetrics([['histogram', 'height', 'Height.', tally]]).split('\n'), [
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

  it('contain a single value, but no metrics without samples', () => {
    const text = formatMetrics([
      ['gauge', 'a', 'A.', 0.5],
      ['gauge', 'files', 'Files.', undefined],
      ['counter', 'none_total', 'None.', new Tally()],
      ['histogram', 'none', 'None.', new Tally([1])],
    ]);
    assert.equal(text, '# HELP a A.\n# TYPE a gauge\na 0.5\n');
  });
});
