import type { CheckClient } from '../../../kits/conformance/check-client.ts';
import { curlCommand } from '../../../kits/conformance/curl.ts';
import { mediaType } from '../../../kits/conformance/expect.ts';
import type { CheckResult } from '../../../kits/conformance/run-cases.ts';
import { printable } from './printable.ts';
import { counted } from './progress.ts';

/** The maximum length of a body that is shown in full, in UTF-16 code units. Longer bodies are truncated. */
const maxShownBody = 300;

/** The response headers that a report includes, because many checks depend on them. */
const shownHeaders = ['content-type', 'www-authenticate', 'allow', 'link', 'location', 'cache-control'];

/** The number of checks with each outcome. A failed SHOULD check counts as a warning. */
export type CheckCounts = Readonly<Record<'passed' | 'failed' | 'warnings' | 'notRun', number>>;

export function countResults(results: readonly CheckResult[]): CheckCounts {
  const counts = { passed: 0, failed: 0, warnings: 0, notRun: 0 };
  for (const { outcome, check } of results) {
    if (outcome === 'failed') counts[check.level === 'MUST' ? 'failed' : 'warnings']++;
    else counts[outcome === 'passed' ? 'passed' : 'notRun']++;
  }
  return counts;
}

interface ReportedResult extends Pick<CheckResult['check'], 'id' | 'level' | 'name' | 'source'> {
  readonly outcome: CheckResult['outcome'];
  /** Why the check was not run. */
  readonly reason?: string;
  readonly expected?: string;
  /** The response, or a phrase that describes the result if no single response caused the failure. */
  readonly received?:
    { readonly status: number; readonly headers: Record<string, string>; readonly body: string } | string;
  readonly details?: readonly string[];
  /** A sentence about the response. */
  readonly note?: string;
  /** A command that repeats the request. */
  readonly curl?: string;
}

/** Converts a result to an entry of the JSON report. The entry contains no tokens. */
export function reportedResult(client: CheckClient, result: CheckResult): ReportedResult {
  const { id, level, name, source } = result.check;
  const base = { id, level, name, source, outcome: result.outcome };
  if (result.outcome === 'passed') return base;
  if (result.outcome === 'not run') return { ...base, reason: result.reason };
  const { expected, received, exchange, details } = result;
  const hide = (text: string): string => client.redact(text);
  if (exchange === undefined) return { ...base, expected, received: hide(received), ...(details && { details }) };
  const { status, headers, text } = exchange.response;
  const shown = shownHeaders.flatMap((header) => {
    const value = headers.get(header);
    return value === null ? [] : [[header, hide(value)] as const];
  });
  const hidden = hide(text);
  const body = hidden.length > maxShownBody ? `${hidden.slice(0, maxShownBody)}…` : hidden;
  return {
    ...base,
    expected,
    received: { status, headers: Object.fromEntries(shown), body },
    ...(mediaType(exchange) === 'text/html' && { note: hide(htmlNote(headers.get('server'))) }),
    curl: curlCommand(client, exchange.request),
  };
}

function htmlNote(server: string | null): string {
  return `A proxy or a web framework${server === null ? '' : ` (Server: ${server})`} probably sent this HTML page.`;
}

/** Returns the text for a result: one line if the check passed, or several lines otherwise. */
export function resultLines(client: CheckClient, result: CheckResult): string {
  const { id, name, source, reason, expected, received, details = [], note, curl } = reportedResult(client, result);
  if (result.outcome === 'passed') return `✓ ${name} (${id})\n`;
  if (result.outcome === 'not run') return `- ${name} (${id})\n    not run:  ${reason ?? ''}\n`;
  const lines = [`✗ ${name} (${id})`, `    expected: ${printable(expected ?? '')}`];
  if (typeof received === 'string') lines.push(`    received: ${printable(received)}`);
  else if (received !== undefined) {
    const headers = Object.entries(received.headers).map(([header, value]) => `${header}: ${value}`);
    lines.push(`    received: status ${received.status}${['', ...headers.map(printable)].join(', ')}`);
    if (received.body !== '') lines.push(`              ${printable(received.body)}`);
  }
  lines.push(...details.map((detail) => `      ${printable(detail)}`));
  if (note !== undefined) lines.push(`    note:     ${printable(note)}`);
  lines.push(`    source:   ${source}`);
  if (curl !== undefined) lines.push(`    request:  ${printable(curl)}`);
  return `${lines.join('\n')}\n`;
}

export function summaryLine({ passed, failed, warnings, notRun }: CheckCounts, elapsedMs: number): string {
  const total = counted(passed + failed + warnings + notRun, 'check');
  const parts = [`${passed} passed`, `${failed} failed`, counted(warnings, 'warning'), `${notRun} not run`];
  return `${total} in ${(elapsedMs / 1000).toFixed(1)} s: ${parts.join(', ')}.\n`;
}
