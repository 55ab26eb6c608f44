import { parseArgs } from 'node:util';
import { problemsOf } from './check-faults.ts';
import type { Fault } from './fault.ts';
import { rooms } from './rooms.ts';
import { runTestFile, stopTests } from './test-run.ts';
import { createWorkspace, removeWorkspace, withFault } from './workspace.ts';
import type { Workspace } from './workspace.ts';

const { values } = parseArgs({
  options: {
    /** A regular expression; only faults whose room, file or name matches are run. */
    only: { type: 'string', default: '' },
    /** How many faults are run in parallel. */
    jobs: { type: 'string', default: '2' },
    /** Only checks that each fault applies to the sources and compiles. */
    'check-only': { type: 'boolean', default: false },
  },
});

/** The time limit of a test file without a fault. */
const baselineLimitMs = 120_000;
/** The time limit of a test file with a fault. */
const limitOf = (baselineMs: number): number => 10_000 + 4 * baselineMs;

interface Verdict {
  readonly isDetected: boolean;
  readonly isTimedOut?: boolean;
  readonly text: string;
}

const workspaces: Workspace[] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void stopTests()
      .then(removeWorkspaces)
      .then(() => process.exit(1));
  });
}
try {
  process.exitCode = await main();
} finally {
  await removeWorkspaces();
}

async function removeWorkspaces(): Promise<void> {
  await Promise.all(workspaces.map(removeWorkspace));
}

async function main(): Promise<number> {
  const pattern = new RegExp(values.only, 'i');
  const faults = Object.entries(rooms).flatMap(([room, list]) => list.map((fault) => ({ room, fault })));
  const chosen = faults.filter(({ room, fault }) => pattern.test(`${room}: ${fault.file}: ${fault.name}`));
  const problems = problemsOf(
    faults.map(({ fault }) => fault),
    chosen.map(({ fault }) => fault),
  );
  if (chosen.length === 0) problems.push('No fault matches --only.');
  if (problems.length > 0) return fail(problems);
  if (values['check-only']) {
    print(`${chosen.length} faults apply to the sources and compile.`);
    return 0;
  }

  const start = performance.now();
  for (let n = 0; n < Number(values.jobs); n++) workspaces.push(await createWorkspace());
  const baselines = await runWithoutFaults([...new Set(chosen.flatMap(({ fault }) => fault.tests))]);
  if (baselines === undefined) return 1;

  const detectedByRoom = new Map<string, number>();
  let timedOut = 0;
  await forEachWorkspace(chosen, async (workspace, { room, fault }) => {
    const {
      isDetected,
      isTimedOut = false,
      text,
    } = await withFault(workspace, fault, () => runTests(workspace, fault, baselines));
    if (isTimedOut) timedOut++;
    if (isDetected) detectedByRoom.set(room, (detectedByRoom.get(room) ?? 0) + 1);
    print(`${isDetected ? '  ' : '! '}${fault.file}: ${fault.name}: ${text}`);
  });

  print('');
  for (const [room, list] of Object.entries(Object.groupBy(chosen, ({ room }) => room))) {
    print(`${room}: ${detectedByRoom.get(room) ?? 0} of ${list?.length ?? 0} detected`);
  }
  const detected = [...detectedByRoom.values()].reduce((sum, count) => sum + count, 0);
  const seconds = Math.round((performance.now() - start) / 1000);
  print(`${detected} of ${chosen.length} detected, ${timedOut} of them by time-out, in ${seconds} s`);
  return detected === chosen.length ? 0 : 1;
}

/**
 * Returns how many milliseconds each test file takes without a fault. Returns `undefined` if one of
 * them fails, because it would then fail with every fault too.
 */
async function runWithoutFaults(files: readonly string[]): Promise<ReadonlyMap<string, number> | undefined> {
  const baselines = new Map<string, number>();
  await forEachWorkspace(files, async (workspace, file) => {
    const start = performance.now();
    const outcome = await runTestFile(workspace, file, baselineLimitMs);
    const test = outcome.kind === 'failed' ? `: "${outcome.test}"` : '';
    if (outcome.kind === 'passed') baselines.set(file, performance.now() - start);
    else print(`${file} does not pass without a fault: ${outcome.kind}${test}`);
  });
  print(`${baselines.size} of ${files.length} test files pass without a fault.`);
  return baselines.size === files.length ? baselines : undefined;
}

async function runTests(
  workspace: Workspace,
  { tests }: Fault,
  baselines: ReadonlyMap<string, number>,
): Promise<Verdict> {
  for (const file of tests) {
    const limitMs = limitOf(baselines.get(file) ?? 0);
    const outcome = await runTestFile(workspace, file, limitMs);
    switch (outcome.kind) {
      case 'failed':
        return { isDetected: true, text: `detected by ${file}: "${outcome.test}"` };
      case 'timed out':
        return {
          isDetected: true,
          isTimedOut: true,
          text: `detected by time-out: ${file} was still running after ${Math.round(limitMs / 1000)} s`,
        };
      case 'broken':
        return {
          isDetected: false,
          text: `NOT DETECTED: ${file} ended without a failing test:\n${outcome.output.slice(0, 2000)}`,
        };
      case 'passed':
    }
  }
  return { isDetected: false, text: `NOT DETECTED by ${tests.join(', ')}` };
}

/** Processes the items in order, one at a time in each workspace. */
async function forEachWorkspace<Item>(
  items: readonly Item[],
  work: (workspace: Workspace, item: Item) => Promise<void>,
): Promise<void> {
  const remaining = items.values();
  await Promise.all(
    workspaces.map(async (workspace) => {
      for (const item of remaining) await work(workspace, item);
    }),
  );
}

function fail(problems: readonly string[]): number {
  for (const problem of problems) print(problem);
  return 1;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
