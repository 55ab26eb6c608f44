import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Counter, Histogram, metric } from '../../../../src/tools/cli/admin/metrics.ts';

describe('metrics in the Prometheus text format', () => {
  it('contain a line for each combination of labels of a counter', () => {
    const counter = new Counter('plants_total', 'Plants.', [{ kind: 'fern' }]);
    counter.increment({ kind: 'moss' });
    counter.increment({ kind: 'moss' });
    const lines = ['# HELP plants_total Plants.', '# TYPE plants_total counter'];
    lines.push('plants_total{kind="fern"} 0', 'plants_total{kind="moss"} 2', '');
    assert.equal(counter.text(), lines.join('\n'));
  });

  it('contain the cumulative buckets of a histogram, which include their upper bounds', () => {
    const histogram = new Histogram('height', 'Height.', [1, 10]);
    for (const value of [0, 1, 1.5, 10, 11]) histogram.observe(value);
    const lines = ['# HELP height Height.', '# TYPE height histogram'];
    lines.push('height_bucket{le="1"} 2', 'height_bucket{le="10"} 4', 'height_bucket{le="+Inf"} 5');
    assert.equal(histogram.text(), [...lines, 'height_sum 23.5', 'height_count 5', ''].join('\n'));
  });

  it('contain a single value with its labels', () => {
    const lines = ['# HELP a A.', '# TYPE a gauge', 'a{version="1"} 0.5', ''];
    assert.equal(metric('gauge', 'a', 'A.', 0.5, { version: '1' }), lines.join('\n'));
  });

  it('do not contain metrics without samples', () => {
    assert.equal(new Counter('a_total', 'A.').text(), '');
    assert.equal(new Histogram('a', 'A.', [1]).text(), '');
    assert.equal(metric('gauge', 'files', 'Files.', undefined), '');
  });
});
