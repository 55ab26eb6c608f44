import { parseArgs } from 'node:util';
import { problemsOf } from './check-faults.ts';
import type { Fault } from './fault.ts';
import { cliFaults } from './faults/cli.ts';
import { connectionFaults } from './faults/connections.ts';
import { coreFaults } from './faults/core.ts';
import { httpFaults } from './faults/http.ts';
import { postgresFaults } from './faults/postgres.ts';
import { storageFaults } from './faults/storage.ts';
import { tokenFaults } from './faults/tokens.ts';
import { writeQueueFaults } from './faults/write-queue.ts';
import { runTestFile, stopTests } from './test-run.ts';
import { makeWorkspace, removeWorkspace, withFault } from './workspace.ts';
import type { Workspace } from './workspace.ts';

const rooms: Readonly<Record<string, readonly Fault[]>> = {
  core: coreFaults,
  'write queue': writeQueueFaults,
  storage: storageFaults,
  PostgreSQL: postgresFaults,
  HTTP: httpFaults,
  connections: connectionFaults,
  tokens: tokenFaults,
  'command line': cliFaults,
};

const { values } = parseArgs({
  options: {
    /** Only faults whose room, file or name this matches. */
    only: { type: 'string', default: '' },
    /** How many faults are tried at a time. */
    jobs: { type: 'string', default: '2' },
    /** Only check that each fault applies to the sources and compiles. */
    'check-only': { type: 'boolean', default: false },
  },
});

/** Without a fault a test file may take this long; with one, several times what it took without, and some more. */
const baselineLimitMs = 120_000;
const limitOf = (baselineMs: number): number => 10_000 + 4 * baselineMs;

interface Verdict {
  readonly isCaught: boolean;
  readonly isTimedOut?: boolean;
  readonly text: string;
}

const workspaces: Workspace[] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void stopTests()
      .then(tidyUp)
      .then(() => process.exit(1));
  });
}
try {
  process.exitCode = await main();
} finally {
  await tidyUp();
}

async function tidyUp(): Promise<void> {
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
  if (chosen.length === 0) problems.push('There is no such fault.');
  if (problems.length > 0) return fail(problems);
  if (values['check-only']) {
    print(`${chosen.length} faults apply to the sources and compile.`);
    return 0;
  }

  const start = performance.now();
  for (let n = 0; n < Number(values.jobs); n++) workspaces.push(await makeWorkspace());
  const baselines = await tryWithoutFault([...new Set(chosen.flatMap(({ fault }) => fault.tests))]);
  if (baselines === undefined) return 1;

  const caughtByRoom = new Map<string, number>();
  let timedOut = 0;
  await forEachWorkspace(chosen, async (workspace, { room, fault }) => {
    const {
      isCaught,
      isTimedOut = false,
      text,
    } = await withFault(workspace, fault, () => judge(workspace, fault, baselines));
    if (isTimedOut) timedOut++;
    if (isCaught) caughtByRoom.set(room, (caughtByRoom.get(room) ?? 0) + 1);
    print(`${isCaught ? '  ' : '! '}${fault.file}: ${fault.name}: ${text}`);
  });

  print('');
  for (const [room, list] of Object.entries(Object.groupBy(chosen, ({ room }) => room))) {
    print(`${room}: ${caughtByRoom.get(room) ?? 0} of ${list?.length ?? 0} caught`);
  }
  const caught = [...caughtByRoom.values()].reduce((sum, count) => sum + count, 0);
  print(
    `${caught} of ${chosen.length} caught, ${timedOut} of them by time-out, in ${Math.round((performance.now() - start) / 1000)} s`,
  );
  return caught === chosen.length ? 0 : 1;
}

/** How long each test file takes as it is, in milliseconds; `undefined` where one does not pass, for then all would look caught. */
async function tryWithoutFault(files: readonly string[]): Promise<ReadonlyMap<string, number> | undefined> {
  const baselines = new Map<string, number>();
  await forEachWorkspace(files, async (workspace, file) => {
    const start = performance.now();
    const outcome = await runTestFile(workspace, file, baselineLimitMs);
    if (outcome.kind === 'passed') baselines.set(file, performance.now() - start);
    else {
      print(
        `${file} does not pass without a fault: ${outcome.kind}${outcome.kind === 'failed' ? `: "${outcome.test}"` : ''}`,
      );
    }
  });
  print(`${baselines.size} of ${files.length} test files pass without a fault.`);
  return baselines.size === files.length ? baselines : undefined;
}

async function judge(workspace: Workspace, { tests }: Fault, baselines: ReadonlyMap<string, number>): Promise<Verdict> {
  for (const file of tests) {
    const limitMs = limitOf(baselines.get(file) ?? 0);
    const outcome = await runTestFile(workspace, file, limitMs);
    switch (outcome.kind) {
      case 'failed':
        return { isCaught: true, text: `caught by ${file}: "${outcome.test}"` };
      case 'timed out':
        return {
          isCaught: true,
          isTimedOut: true,
          text: `caught by time-out: ${file} was not done after ${Math.round(limitMs / 1000)} s`,
        };
      case 'broken':
        return {
          isCaught: false,
          text: `SURVIVED: ${file} broke without a failing test:\n${outcome.output.slice(0, 2000)}`,
        };
      case 'passed':
    }
  }
  return { isCaught: false, text: `SURVIVED ${tests.join(', ')}` };
}

/** Works on items in order, one at a time in each workspace. */
async function forEachWorkspace<Item>(
  items: readonly Item[],
  work: (workspace: Workspace, item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  await Promise.all(
    workspaces.map(async (workspace) => {
      for (const item of left) await work(workspace, item);
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
