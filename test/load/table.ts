/** What a scenario showed. */
export interface Row {
  readonly scenario: string;
  /** The most that the server had at once. */
  readonly connections: number;
  readonly answered: number;
  /** What was refused, and how. */
  readonly refused: string;
  /** Milliseconds, of the requests that were answered as they should be. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Bytes over those of the idle server: resident at the most, resident after it, used after it. */
  readonly peakBytes: number;
  readonly residentBytes: number;
  readonly usedBytes: number;
  readonly health: string;
  readonly notes: readonly string[];
}

const titles = [
  'Scenario',
  'Connections',
  'Answered',
  'Refused',
  'p50 ms',
  'p99 ms',
  'Peak MiB over idle',
  'Resident MiB over idle after it',
  'Used MiB over idle after it',
  'Healthy after it',
];

/** The rows in Markdown, with what is to be said to each below. */
export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.scenario,
    figure(row.connections),
    figure(row.answered),
    row.refused,
    figure(row.p50Ms, 1),
    figure(row.p99Ms, 1),
    figure(row.peakBytes / 2 ** 20),
    figure(row.residentBytes / 2 ** 20),
    figure(row.usedBytes / 2 ** 20),
    row.health,
  ]);
  const lines = [titles, titles.map(() => '---'), ...cells].map((line) => `| ${line.join(' | ')} |`);
  const notes = rows
    .filter(({ notes }) => notes.length > 0)
    .map(({ scenario, notes }) => `${scenario}:\n${notes.map((note) => `  - ${note}\n`).join('')}`);
  return [...lines, '', ...notes].join('\n');
}

function figure(value: number, digits = 0): string {
  return Number.isNaN(value)
    ? ''
    : value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
