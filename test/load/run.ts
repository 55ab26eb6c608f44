import { loadavg } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { describeMachine } from '../bench/report.ts';
import { runScenario } from './run-scenario.ts';
import type { Row } from './run-scenario.ts';
import { scenarios } from './scenarios.ts';
import { tableOf } from './table.ts';

const { values } = parseArgs({
  options: {
    /** A regular expression. Only scenarios with a matching name are run. */
    only: { type: 'string', default: '.' },
    /** The folder of the built package. */
    dist: { type: 'string', default: fileURLToPath(new URL('../../dist', import.meta.url)) },
  },
});

const start = performance.now();
const [loadBefore = NaN] = loadavg();
const only = new RegExp(values.only, 'i');
const selected = scenarios.filter(({ name }) => only.test(name));
if (selected.length === 0) throw new Error(`No scenario matches ${values.only}.`);
const rows: Row[] = [];
for (const scenario of selected) {
  process.stderr.write(`${scenario.name} …\n`);
  try {
    const row = await runScenario(scenario, resolve(values.dist));
    if (!row.verdict.holds) process.exitCode = 1;
    rows.push(row);
  } catch (error) {
    // For example, the system's limit on open files may be too low.
    process.exitCode = 1;
    console.error('failed:', error);
  }
}
const minutes = ((performance.now() - start) / 60_000).toFixed(1);
const load = `load average ${loadBefore.toFixed(1)} at the start`;
console.log(`\n${describeMachine()}; ${load}; ${minutes} minutes\n\n${tableOf(rows)}`);
