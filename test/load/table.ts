import type { StatsReport } from './clients/response-stats.ts';
import type { Row } from './run-scenario.ts';

const columns: readonly (readonly [title: string, cell: (row: Row) => string])[] = [
  ['Scenario', ({ name }) => name],
  ['Verdict', ({ verdict }) => `${verdict.holds ? 'holds' : 'fails'}: ${verdict.figures}`],
  ['Served', ({ stats }) => figure(stats?.served)],
  ['Not served', ({ stats }) => (stats === undefined ? '' : describeRefused(stats))],
  ['p50 ms', ({ stats }) => figure(stats?.p50Ms, 1)],
  ['p99 ms', ({ stats }) => figure(stats?.p99Ms, 1)],
  ['CPU s', ({ cpuSeconds }) => figure(cpuSeconds, 1)],
  ['Peak memory, MiB above idle', ({ peakBytes }) => figure(peakBytes / 2 ** 20)],
  ['Memory afterwards, MiB above idle', ({ afterBytes }) => figure(afterBytes / 2 ** 20)],
  ['Healthy afterwards', ({ health }) => health],
];

/** Formats the rows as a Markdown table, followed by the notes of each row. */
export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map(([, cell]) => cell(row)));
  const lines = [columns.map(([title]) => title), columns.map(() => '---'), ...cells];
  const notes = rows
    .filter(({ notes = [] }) => notes.length > 0)
    .map(({ name, notes = [] }) => `${name}:\n${notes.map((note) => `  - ${note}\n`).join('')}`);
  return [...lines.map((line) => `| ${line.join(' | ')} |`), '', ...notes].join('\n');
}

/** Counts the requests that were not served, by status or outcome. */
export function describeRefused({ statuses, closed, unanswered }: StatsReport): string {
  const parts = Object.entries(statuses)
    .filter(([status]) => Number(status) >= 300)
    .map(([status, count]) => `${count} × ${status}`);
  if (closed > 0) parts.push(`${closed} closed`);
  if (unanswered > 0) parts.push(`${unanswered} without a response`);
  return parts.length === 0 ? '0' : parts.join(', ');
}

function figure(value = NaN, digits = 0): string {
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits, signDisplay: 'negative' } as const;
  return Number.isNaN(value) ? '' : value.toLocaleString('en-US', format);
}
