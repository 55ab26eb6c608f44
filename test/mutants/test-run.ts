import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Workspace } from './workspace.ts';

/** How a test file ended. */
export type TestOutcome =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly test: string }
  | { readonly kind: 'timed out' }
  /** It could not be loaded, or ended without saying which test failed. */
  | { readonly kind: 'broken'; readonly output: string };

const running = new Set<ChildProcess>();
let isStopping = false;

/** Runs one test file of a workspace; after `limitMs` milliseconds it is stopped with all that it started. */
export async function runTestFile({ root, temporary }: Workspace, file: string, limitMs: number): Promise<TestOutcome> {
  // Until the process ends.
  if (isStopping) await new Promise(() => undefined);
  const child = spawn(process.execPath, ['--import', 'tsx', '--test', '--test-reporter=tap', file], {
    cwd: root,
    env: { ...process.env, TMPDIR: temporary, NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, so that the servers that it starts can be stopped with it.
    detached: true,
  });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const limit = new AbortController();
  let isLate = false;
  const stopped = sleep(limitMs, undefined, { signal: limit.signal })
    .then(async () => {
      isLate = true;
      await stopGroup(child);
    })
    .catch(() => undefined);
  await once(child, 'exit');
  limit.abort();
  await stopped;
  // What a test left behind would be in the way of the next one.
  signalGroup(child, 'SIGKILL');
  running.delete(child);
  return outcomeOf(output, file, isLate);
}

/** Stops every test that is under way, and starts no more. */
export async function stopTests(): Promise<void> {
  isStopping = true;
  await Promise.all([...running].map(stopGroup));
}

/** Asks first: PostgreSQL then takes its shared memory along. */
async function stopGroup(child: ChildProcess): Promise<void> {
  signalGroup(child, 'SIGINT');
  await sleep(2000);
  signalGroup(child, 'SIGKILL');
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody of it is left.
  }
}

/** Reads node:test's TAP. A suite fails with its tests; a file that fails as a whole stands there as a test with its own path. */
function outcomeOf(output: string, file: string, isLate: boolean): TestOutcome {
  const failures = [...output.matchAll(/^ *not ok \d+ - (.*)\n( *)---\n([\s\S]*?)^\2\.\.\.$/gm)]
    .filter(([, , , details = '']) => !details.includes("failureType: 'subtestsFailed'"))
    .map(([, name = '']) => name.replace(/\\([\\#])/g, '$1'))
    .filter((name) => !name.endsWith(file));
  const [test] = failures;
  if (test !== undefined) return { kind: 'failed', test };
  if (isLate) return { kind: 'timed out' };
  const count = (what: string): number => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(output)?.[1]);
  return count('pass') > 0 && count('fail') === 0 && count('cancelled') === 0
    ? { kind: 'passed' }
    : { kind: 'broken', output };
}
