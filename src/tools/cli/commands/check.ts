import { checkCases } from '../../../kits/conformance/cases.ts';
import { CheckClient } from '../../../kits/conformance/check-client.ts';
import type { CheckTokens } from '../../../kits/conformance/check-client.ts';
import { checkConcurrent } from '../../../kits/conformance/concurrent/check-concurrent.ts';
import { NotRun } from '../../../kits/conformance/expect.ts';
import { preflight } from '../../../kits/conformance/preflight.ts';
import { runCases } from '../../../kits/conformance/run-cases.ts';
import type { CheckResult } from '../../../kits/conformance/run-cases.ts';
import { sendByFetch } from '../../../kits/conformance/send-by-fetch.ts';
import { parseCommandLine, UsageError } from '../command.ts';
import { checkVariables, readVariable } from '../environment.ts';
import { countResults, reportedResult, resultLines, summaryLine } from '../output/check-report.ts';
import { errorSummary } from '../output/error-summary.ts';
import { printable } from '../output/printable.ts';

export const help = `Usage: plant-store check BASE_URL --token A --token B [OPTIONS]

Checks that the server at BASE_URL implements the Plant Store interface. A and
B are bearer tokens of two different users. For both users, the checks create
plants with random ids and delete them again. They do not change plants that the
users already have. Exits with 1 if the server breaks a MUST rule. A broken
SHOULD rule is only a warning.

Options:
  --token TOKEN             a bearer token; give the option twice
                            (PLANT_STORE_CHECK_TOKENS, both tokens separated
                            by a space)
  --read-only-token TOKEN   a bearer token that only has the scope plants:read;
                            without it, checks of scopes are not run
                            (PLANT_STORE_CHECK_READ_ONLY_TOKEN)
  --concurrent              also send random requests at the same time, and
                            check that the responses fit some order of the
                            requests
  --clients N               with --concurrent: the number of requests in flight,
                            1 to 64 (default 8)
  --operations N            with --concurrent: the total number of requests, 1
                            to 1000000 (default 2000)
  --json                    print the results as one JSON document
  -h, --help                show this help

An environment variable in parentheses sets the default of its option.
`;

/** The exit code after Ctrl-C. By convention, shells return 128 plus the signal number. */
const interruptedCode = 130;

function parseConfig(args: string[]) {
  const options = {
    token: { type: 'string', multiple: true },
    'read-only-token': { type: 'string' },
    concurrent: { type: 'boolean' },
    clients: { type: 'string' },
    operations: { type: 'string' },
    json: { type: 'boolean' },
  } as const;
  const { values, positionals } = parseCommandLine('check', args, options, 1);
  for (const name of ['clients', 'operations'] as const) {
    if (values[name] !== undefined && values.concurrent !== true) throw new UsageError(`--${name} needs --concurrent.`);
  }
  return {
    baseUrl: parseBaseUrl(positionals[0]),
    tokens: parseTokens(values.token, values['read-only-token']),
    clients: parseCount('--clients', values.clients, 8, 64),
    operations: parseCount('--operations', values.operations, 2000, 1_000_000),
    isConcurrent: values.concurrent === true,
    isJson: values.json === true,
  };
}

function parseBaseUrl(text: string | undefined): string {
  if (text === undefined || text === '') throw new UsageError('check needs the BASE_URL of a server.');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url === undefined || !/^https?:$/.test(url.protocol) || !isPlain) {
    throw new UsageError(`BASE_URL must be an address such as https://example.com/garden, not '${printable(text)}'.`);
  }
  return url.href.replace(/\/+$/, '');
}

function parseTokens(tokenFlags: string[] | undefined, readOnlyFlag: string | undefined): CheckTokens {
  const [a, b, ...others] = tokenFlags ?? (readVariable(checkVariables.tokens) ?? '').split(/\s+/).filter(Boolean);
  if (a === undefined || b === undefined || others.length > 0) {
    throw new UsageError('check needs two tokens: --token A --token B, or PLANT_STORE_CHECK_TOKENS.');
  }
  const readOnly = readOnlyFlag ?? readVariable(checkVariables.readOnly);
  requireToken(tokenFlags === undefined ? checkVariables.tokens : '--token', a, b);
  requireToken(readOnlyFlag === undefined ? checkVariables.readOnly : '--read-only-token', readOnly ?? 'none');
  if (a === b) throw new UsageError('Both tokens are the same: use the tokens of two users.');
  return { a, b, readOnly };
}

function requireToken(source: string, ...tokens: string[]): void {
  // The syntax of a bearer token (RFC 6750 §2.1).
  if (tokens.every((token) => /^[\w\-.~+/]+=*$/.test(token))) return;
  throw new UsageError(`${source} must be a bearer token, without spaces and quotes.`);
}

function parseCount(name: string, text: string | undefined, fallback: number, max: number): number {
  if (text === undefined) return fallback;
  const count = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > max) throw new UsageError(`${name} must be 1 to ${max}, not '${printable(text)}'.`);
  return count;
}

export async function run(args: string[]): Promise<number> {
  const config = parseConfig(args);
  const { baseUrl, tokens, isJson } = config;
  const interruption = new AbortController();
  const client = new CheckClient({ send: sendByFetch(baseUrl), baseUrl, tokens, signal: interruption.signal });
  // After the first signal, no further checks run, and the plants that the checks created are deleted. The second
  // signal ends the process immediately.
  const onSignal = (): void => {
    if (interruption.signal.aborted) process.exit(interruptedCode);
    interruption.abort();
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  const startMs = performance.now();
  const results: CheckResult[] = [];
  const report = (result: CheckResult): void => {
    results.push(result);
    if (!isJson) process.stdout.write(resultLines(client, result));
  };
  try {
    await preflight(client);
    for await (const result of runCases(checkCases, client)) report(result);
    if (config.isConcurrent) report(await checkConcurrent(client, config));
  } catch (error) {
    if (error instanceof NotRun) throw new UsageError(error.message, { cause: error });
    if (!interruption.signal.aborted) throw error;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
  const counts = countResults(results);
  const isClean = await reportLeftovers(client);
  if (interruption.signal.aborted) {
    process.stderr.write('plant-store: The checks were interrupted.\n');
    return interruptedCode;
  }
  if (isJson) {
    const checks = results.map((result) => reportedResult(client, result));
    process.stdout.write(`${JSON.stringify({ baseUrl, ...counts, checks }, null, 2)}\n`);
  } else {
    process.stdout.write(`\n${summaryLine(counts, performance.now() - startMs)}`);
  }
  return counts.failed > 0 || !isClean ? 1 : 0;
}

/** Reports the plants of the checks that still exist. Resolves with `true` if it is certain that none exists. */
async function reportLeftovers(client: CheckClient): Promise<boolean> {
  try {
    const names = await client.findLeftovers();
    for (const name of names) {
      process.stderr.write(`plant-store: The server did not delete the plant ${printable(name)}.\n`);
    }
    return names.length === 0;
  } catch (error) {
    const message = `Whether the server has deleted all plants of the checks is unknown: ${errorSummary(error)}`;
    process.stderr.write(`plant-store: ${printable(message)}\n`);
    return false;
  }
}
