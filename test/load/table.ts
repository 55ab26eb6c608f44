/** Whether the server did what a scenario requires, and the figures that show it. */
export interface Verdict {
  readonly holds: boolean;
  readonly figures: string;
}

/** The figures of a scenario. */
export interface Row {
  readonly scenario: string;
  /** Only of the scenarios that require something exactly. */
  readonly verdict?: Verdict | undefined;
  /** The maximum number of open connections. */
  readonly connections: number;
  /** Requests that got a status under 300. */
  readonly served: number;
  /** The other requests, by their status or outcome. */
  readonly refused: string;
  /** Milliseconds to the end of the response, of the requests that were served. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /**
   * Memory in bytes above that of the idle server: the peak of the resident memory, and the resident
   * memory and the JavaScript heap after the scenario.
   */
  readonly peakBytes: number;
  readonly residentBytes: number;
  readonly usedBytes: number;
  readonly health: string;
  readonly notes: readonly string[];
}

const titles = [
  'Scenario',
  'Verdict',
  'Max. connections',
  'Served',
  'Not served',
  'p50 ms',
  'p99 ms',
  'Peak memory, MiB above idle',
  'Memory afterwards, MiB above idle',
  'Heap afterwards, MiB above idle',
  'Healthy afterwards',
];

/** Formats the rows as a Markdown table, followed by their notes. */
export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.scenario,
    row.verdict === undefined ? '' : describeVerdict(row.verdict),
    figure(row.connections),
    figure(row.served),
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

function describeVerdict({ holds, figures }: Verdict): string {
  return `${holds ? 'holds' : 'fails'}: ${figures}`;
}

function figure(value: number, digits = 0): string {
  return Number.isNaN(value)
    ? ''
    : value.toLocaleString('en-US', {
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
        signDisplay: 'negative',
      });
}
