import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exposition } from '../../../src/cli/admin/exposition.ts';
import { Counter, Histogram, Reading } from '../../../src/cli/admin/metric-types.ts';

describe('metrics in the Prometheus text format', () => {
  it('contain a line for each combination of labels of a counter', () => {
    const counter = new Counter('plants_total', 'Plants.');
    counter.start({ kind: 'fern' });
    counter.increment({ kind: 'moss' });
    counter.increment({ kind: 'moss' });
    const lines = ['# HELP plants_total Plants.', '# TYPE plants_total counter'];
    lines.push('plants_total{kind="fern"} 0', 'plants_total{kind="moss"} 2', '');
    assert.equal(exposition([counter]), lines.join('\n'));
  });

  it('contain the cumulative buckets of a histogram, which include their upper bounds', () => {
    const histogram = new Histogram('height', 'Height.', [1, 10]);
    for (const value of [0, 1, 1.5, 10, 11]) histogram.observe(value);
    const lines = ['height_bucket{le="1"} 2', 'height_bucket{le="10"} 4', 'height_bucket{le="+Inf"} 5'];
    assert.equal(histogram.samples(), [...lines, 'height_sum 23.5', 'height_count 5', ''].join('\n'));
  });

  it('do not contain metrics without samples', () => {
    const reading = new Reading('gauge', 'files', 'Files.', () => undefined);
    assert.equal(exposition([new Counter('a_total', 'A.'), reading]), '');
  });

  it('escape label values', () => {
    const reading = new Reading('gauge', 'a', 'A.', () => 1, { text: 'a\\b"c\nd' });
    assert.equal(reading.samples(), 'a{text="a\\\\b\\"c\\nd"} 1\n');
  });
});
