import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatMetric, Histogram } from '../../../../src/tools/cli/admin/metrics.ts';

describe('metrics in the Prometheus text format', () => {
  it('contain cumulative buckets with inclusive upper bounds, and no metrics without samples', () => {
    const heights = new Histogram();
    for (const value of [0, 5, 5.5, 11]) heights.add('tree="oak"', value);
    const text = formatMetric('histogram', 'height', 'Height.', heights.samples());
    assert.match(text, /^# HELP height Height\.\n# TYPE height histogram\nheight_bucket\{tree="oak",le="0\.001"\} 1\n/);
    assert.match(
      text,
      /le="5"\} 2\n.*le="10"\} 3\n.*le="\+Inf"\} 4\nheight_sum\{tree="oak"\} 21\.5\nheight_count\{tree="oak"\} 4\n$/,
    );
    assert.equal(formatMetric('histogram', 'none', 'None.', new Histogram().samples()), '');
  });
});
