// Draws results.json as bars: CPU per request at 64 connections, on a logarithmic scale.
import { readFile, writeFile } from 'node:fs/promises';
import * as vega from 'vega';
import { compile } from 'vega-lite';

const [results, chart] = process.argv.slice(2);
const { machine, measurements } = JSON.parse(await readFile(results, 'utf8'));
const shown = ['create', 'delete', 'list 20', 'list 1000'];
const values = measurements.filter(({ workload, connections }) => connections === 64 && shown.includes(workload));
const candidates = [...new Set(values.map(({ candidate }) => candidate))];

const { spec } = compile({
  background: 'white',
  title: { text: 'CPU time of the server process a request, 64 connections', subtitle: machine, anchor: 'start' },
  data: { values },
  facet: { field: 'workload', type: 'nominal', columns: 2, sort: shown, title: null },
  spec: {
    width: 300,
    height: { step: 20 },
    encoding: { y: { field: 'candidate', type: 'nominal', sort: candidates, title: null } },
    layer: [
      {
        mark: 'bar',
        encoding: {
          x: { field: 'cpuMicros', type: 'quantitative', scale: { type: 'log', domainMin: 10 }, title: 'µs, logarithmic', axis: { tickCount: 5 } },
          color: {
            condition: { test: "indexof(datum.candidate, 'Plant Store') === 0", value: '#2e7d32' },
            value: '#b0bec5',
          },
        },
      },
      {
        mark: { type: 'text', align: 'left', dx: 4 },
        encoding: { x: { field: 'cpuMicros', type: 'quantitative' }, text: { field: 'cpuMicros', format: '.0f' } },
      },
    ],
  },
});
await writeFile(chart, `${await new vega.View(vega.parse(spec)).toSVG()}\n`);
