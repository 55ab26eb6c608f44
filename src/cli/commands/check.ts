import { fileURLToPath } from 'node:url';
import { Client, interruption } from '../../testing/service/client.ts';
import { NotRun } from '../../testing/service/exchange.ts';
import { checkOptions, checkUrl } from '../../testing/service/options.ts';
import type { ServiceTestOptions } from '../../testing/service/options.ts';
import { preflight } from '../../testing/service/preflight.ts';
import { parseCommandLine, UsageError } from '../command.ts';
import { checkVariables, readVariable } from '../environment.ts';
import { exitCodeOf, interruptible } from '../interruption.ts';

export const help = `Usage: plant-store check URL --token A --token B [OPTIONS]

Tests whether the server at URL implements the Plant Store interface. A and B
are bearer tokens of two different users that have no other purpose. For both
users, the tests create plants with random ids and with the ids 0, -2^63 and
2^63-1, and delete them again.

Options:
  --token TOKEN             a bearer token; give the option twice
                            (PLANT_STORE_CHECK_TOKENS, both tokens separated
                            by a space)
  --read-only-token TOKEN   a bearer token that only has the scope plants:read;
                            without it, tests of scopes are skipped
                            (PLANT_STORE_CHECK_READ_ONLY_TOKEN)
  --only PATTERN            run only the tests whose names match this regular
                            expression, such as '^.* link-'
  --reporter NAME           a reporter of node:test: spec, tap, junit or dot
                            (default spec)
  -h, --help                show this help

Exits with 0 if the server implements the interface, 1 if it breaks a MUST rule,
and 2 if the tests cannot be run. A broken SHOULD rule is shown as a failing
todo test, which does not change the exit code. An environment variable in
parentheses sets the default of its option.
`;

const reporters = ['spec', 'tap', 'junit', 'dot'] as const;
const options = {
  token: { type: 'string', multiple: true },
  'read-only-token': { type: 'string' },
  only: { type: 'string', default: '' },
  reporter: { type: 'string', default: 'spec' },
} as const;

/** The server that check-tests.ts tests. */
export const checked: ServiceTestOptions = { url: '', tokens: { a: '', b: '' } };
/** The tests to run. With `isolation: 'none'`, run() ignores `testNamePatterns` on Node.js 22 and 24. */
export const selection: { only: RegExp } = { only: /(?:)/ };

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine(args, options, 1);
  const variable = readVariable(checkVariables.tokens) ?? '';
  const [a = '', b = '', ...others] = values.token ?? variable.split(/\s+/).filter(Boolean);
  if (b === '' || others.length > 0) {
    throw new UsageError(`check needs two tokens: --token A --token B, or ${checkVariables.tokens}.`);
  }
  const reporter = reporters.find((name) => name === values.reporter);
  if (reporter === undefined) throw new UsageError(`--reporter must be one of ${reporters.join(', ')}.`);
  const readOnly = values['read-only-token'] ?? readVariable(checkVariables.readOnly);
  try {
    Object.assign(checked, { url: checkUrl(positionals[0] ?? ''), tokens: { a, b, readOnly } });
    checkOptions(checked);
    selection.only = new RegExp(values.only);
    const client = new Client(checked);
    client.baseUrl = String(checked.url);
    await preflight(client);
  } catch (error) {
    const isMisuse = error instanceof TypeError || error instanceof SyntaxError || error instanceof NotRun;
    throw isMisuse ? new UsageError(error.message, { cause: error }) : error;
  }
  return interruptible(async (signal) => {
    // The remaining tests are skipped, and the plants of the current one are deleted.
    signal.addEventListener('abort', () => {
      interruption.abort();
    });
    const { run, failed } = await runTests(reporter);
    if (signal.aborted) return exitCodeOf(signal);
    if (run === 0) throw new UsageError('No test matches --only.');
    return failed > 0 ? 1 : 0;
  });
}

async function runTests(reporter: (typeof reporters)[number]): Promise<{ run: number; failed: number }> {
  // If a test started this process, it inherits this variable, and `run` would skip all tests.
  delete process.env['NODE_TEST_CONTEXT'];
  const [nodeTest, { spec: Spec, ...functions }] = await Promise.all([
    import('node:test'),
    import('node:test/reporters'),
  ]);
  const file = fileURLToPath(import.meta.url.replace(/check(\.\w+)$/, 'check-tests$1'));
  const events = nodeTest.run({ files: [file], isolation: 'none' });
  const counts = { run: 0, failed: 0 };
  events.on('test:pass', ({ details: { type } }) => {
    if (type !== 'suite') counts.run++;
  });
  events.on('test:fail', ({ details: { type }, todo }) => {
    if (type === 'suite') return;
    counts.run++;
    if (todo === undefined) counts.failed++;
  });
  const output: AsyncIterable<unknown> =
    reporter === 'spec' ? events.pipe(new Spec()) : functions[reporter](events as never);
  for await (const text of output) process.stdout.write(String(text));
  return counts;
}
