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
  /** The file could not be loaded, or it ended without naming a failed test. */
  | { readonly kind: 'broken'; readonly output: string };

const running = new Set<ChildProcess>();
let isStopping = false;

/** Runs one test file of a workspace. After `limitMs` milliseconds, stops it and every process that it started. */
export async function runTestFile({ root, temporary }: Workspace, file: string, limitMs: number): Promise<TestOutcome> {
  // Never resolves: the process is about to exit.
  if (isStopping) await new Promise(() => undefined);
  const child = spawn(process.execPath, ['--import', 'tsx', '--test', '--test-reporter=tap', file], {
    cwd: root,
    env: { ...process.env, TMPDIR: temporary, NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Its own process group, so that the servers that it starts can be stopped with it.
    detached: true,
  });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const limit = new AbortController();
  let isTimedOut = false;
  const stopped = sleep(limitMs, undefined, { signal: limit.signal })
    .then(async () => {
      isTimedOut = true;
      await stopGroup(child);
    })
    .catch(() => undefined);
  await once(child, 'exit');
  limit.abort();
  await stopped;
  // Processes that the test left running would disturb the next one.
  signalGroup(child, 'SIGKILL');
  running.delete(child);
  return outcomeOf(output, file, isTimedOut);
}

/** Stops every running test, and starts no more. */
export async function stopTests(): Promise<void> {
  isStopping = true;
  await Promise.all([...running].map(stopGroup));
}

/** Sends SIGINT first, so that PostgreSQL can release its shared memory, then SIGKILL. */
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
    // No process of the group is left.
  }
}

/**
 * Reads the TAP output of node:test. Ignores failures of a suite, which repeat those of its tests, and
 * of a file as a whole, which node:test reports as a test with the path of the file as its name.
 */
function outcomeOf(output: string, file: string, isTimedOut: boolean): TestOutcome {
  const failures = [...output.matchAll(/^ *not ok \d+ - (.*)\n( *)---\n([\s\S]*?)^\2\.\.\.$/gm)]
    .filter(([, , , details = '']) => !details.includes("failureType: 'subtestsFailed'"))
    .map(([, name = '']) => name.replace(/\\([\\#])/g, '$1'))
    .filter((name) => !name.endsWith(file));
  const [test] = failures;
  if (test !== undefined) return { kind: 'failed', test };
  if (isTimedOut) return { kind: 'timed out' };
  const count = (what: string): number => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(output)?.[1]);
  return count('pass') > 0 && count('fail') === 0 && count('cancelled') === 0
    ? { kind: 'passed' }
    : { kind: 'broken', output };
}
