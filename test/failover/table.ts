import type { ScenarioResult } from './run-scenario.ts';

const titles = [
  'Failure',
  'Acknowledged',
  'Lost',
  'Resurrected',
  'Phantom',
  'Responses',
  'Seconds without a success',
  'Longest request, seconds',
];

/** Formats the results as a Markdown table. */
export function tableOf(results: ReadonlyMap<string, ScenarioResult>): string {
  const rows = [...results].map(([description, result]) => [
    description,
    result.acknowledged.toLocaleString('en-US'),
    String(result.lost),
    String(result.resurrected),
    String(result.phantom),
    Object.entries(result.statuses)
      .map(([status, count]) => `${count.toLocaleString('en-US')} × ${status}`)
      .join(', '),
    result.longestGap.toFixed(1),
    result.longestRequest.toFixed(1),
  ]);
  return [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
