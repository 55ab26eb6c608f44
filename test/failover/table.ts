import { countWrong } from './run-scenario.ts';
import type { ScenarioResult } from './run-scenario.ts';

type Column = readonly [title: string, cell: (result: ScenarioResult) => string];

const columns: readonly Column[] = [
  ['Acknowledged', ({ clients }) => clients.acknowledged().toLocaleString('en-US')],
  ['Lost', ({ lost }) => String(lost.length)],
  ['Resurrected', ({ resurrected }) => String(resurrected.length)],
  ['Phantom', ({ phantom }) => String(phantom.length)],
  ['Wrong responses', ({ clients }) => String(countWrong(clients))],
  [
    'Responses',
    ({ clients }) => [...clients.statuses].map(([status, n]) => `${n.toLocaleString('en-US')} × ${status}`).join(', '),
  ],
  ['Seconds without a success', ({ clients }) => (clients.longest.gapMs / 1000).toFixed(1)],
  ['Longest request, seconds', ({ clients }) => (clients.longest.requestMs / 1000).toFixed(1)],
];

/** Formats the results as a Markdown table. */
export function tableOf(results: ReadonlyMap<string, ScenarioResult>): string {
  const titles = ['Failure', ...columns.map(([title]) => title)];
  const rows = [...results].map(([description, result]) => [description, ...columns.map(([, cell]) => cell(result))]);
  return [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
