// Draws a bar chart from results.json: the CPU time per request with 64 connections.
import { readFile, writeFile } from 'node:fs/promises';
import * as vega from 'vega';
import { compile } from 'vega-lite';

const [results, chart] = process.argv.slice(2);
const { machine, date, commit, rows } = JSON.parse(await readFile(results, 'utf8'));
const shown = ['create', 'delete', 'list 20', 'list 1000'];
const values = shown.flatMap((workload) => {
  const { medians } = rows.find(({ name }) => name === `${workload}, 64 connections`);
  return Object.entries(medians).map(([candidate, { cpuMicros }]) => ({ workload, candidate, cpuMicros }));
});
const candidates = [...new Set(values.map(({ candidate }) => candidate))];

const { spec } = compile({
  background: 'white',
  config: { axis: { labelLimit: 400 } },
  title: {
    text: 'CPU time of the server process per request, 64 connections',
    subtitle: `${machine}, ${date}, ${commit}`,
    anchor: 'start',
  },
  data: { values },
  facet: { field: 'workload', type: 'nominal', sort: shown, title: null },
  columns: 2,
  resolve: { scale: { x: 'independent' } },
  spec: {
    width: 250,
    height: { step: 20 },
    encoding: { y: { field: 'candidate', type: 'nominal', sort: candidates, title: null } },
    layer: [
      {
        mark: 'bar',
        encoding: {
          x: { field: 'cpuMicros', type: 'quantitative', title: 'µs', axis: { tickCount: 4 } },
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
