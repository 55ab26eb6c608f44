import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { tokenOf } from '../../bench/data-set.ts';
import { requestText } from '../../bench/requests.ts';
import { startLoad } from '../clients/start-load.ts';
import type { ScenarioContext, ScenarioRunner } from '../scenario-runner.ts';
import type { Verdict } from '../table.ts';
import { CpuMeter, describeFixedRate, greedyUser, politeUser } from './two-users.ts';

// A user has 30 plants whose names are 10,800 control characters each. JSON needs six bytes for each
// of these, so the list has 1.9 MB. Thousands of clients with a tiny receive window request it, and
// read 200 bytes per second or nothing. The server should not keep a copy for each of them: its memory
// should grow by at most 150 MiB. Meanwhile, another user sends 100 requests per second.

const measuredMs = 30_000;
const maxGrowthMiB = 150;
/** The server is stopped if it uses more memory than this, to protect the machine. */
const maxServerBytes = 8 * 2 ** 30;
const program = fileURLToPath(new URL('../clients/slow-readers.py', import.meta.url));

export interface HostileReaders {
  readonly connections: number;
  /** 0 if they never read. */
  readonly bytesPerSecond: number;
}

export async function hostileReaders(
  runner: ScenarioRunner,
  { connections, bytesPerSecond }: HostileReaders,
): Promise<void> {
  const how = bytesPerSecond === 0 ? 'nothing' : `${bytesPerSecond} bytes per second`;
  const readersText = `${connections.toLocaleString('en-US')} clients read ${how} of 1.9 MB of control characters`;
  const scenario = `${readersText}, another user at 100 per second`;
  await runner.run(scenario, async (context) => {
    const { server, port } = context;
    const idleBytes = server.watch.memory();
    await createLongNames(context);
    const options = { user: politeUser, perSecond: 100, milliseconds: measuredMs } as const;
    const polite = startLoad('runAtFixedRate', { port, ...options, works: ['create', 'list 20'] });
    await polite.ready;
    await sleep(500);
    const filesBefore = server.watch.openFiles();
    const cpu = new CpuMeter(server);
    const readers = await startReaders({ port, connections, bytesPerSecond, target: '/plants', user: greedyUser });
    const watching = new AbortController();
    const connectionsNote = watchConnections(context, filesBefore, watching.signal);
    const politeReport = await polite.report;
    watching.abort();
    const cpuNote = `the server used ${cpu.describe()}`;
    const notes = [readers.note, await connectionsNote, cpuNote, ...describeFixedRate(politeReport)];
    await readers.stop();
    return {
      verdict: growthVerdict(server.watch.peakMemory() - idleBytes, 'at the peak'),
      stats: politeReport.all,
      notes,
    };
  });
}

/** The verdict on the server's resident memory above that of the idle server. */
export function growthVerdict(growthBytes: number, when: string): Verdict {
  const growthMiB = growthBytes / 2 ** 20;
  const figures = `${growthMiB.toFixed(0)} MiB above idle ${when}, ${maxGrowthMiB} allowed`;
  return { holds: growthMiB <= maxGrowthMiB, figures };
}

async function createLongNames({ port }: ScenarioContext): Promise<void> {
  const headers = { authorization: `Bearer ${tokenOf(greedyUser)}`, 'content-type': 'application/json' };
  for (let id = 1; id <= 30; id++) {
    const body = JSON.stringify({ id, name: '\u0001'.repeat(10_800) });
    const { status } = await fetch(`http://127.0.0.1:${port}/plants`, { method: 'POST', headers, body });
    if (status !== 200) throw new Error(`Creating a long name failed with status ${status}.`);
  }
}

export interface ReaderOptions extends HostileReaders {
  readonly port: number;
  readonly target: string;
  /** The token of an unknown user is invalid. */
  readonly user: string;
}

interface Readers {
  readonly note: string;
  stop(): Promise<void>;
}

/** Starts clients with a tiny receive window. */
export async function startReaders(options: ReaderOptions): Promise<Readers> {
  if (spawnSync('python3', ['--version']).status !== 0) return startReadersInNode(options);
  const { port, connections, bytesPerSecond, target, user } = options;
  const child = spawn('python3', [program, String(port), String(connections), String(bytesPerSecond)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => undefined).write(requestText('GET', target, user));
  const start = performance.now();
  const [count] = (await Promise.race([once(child.stdout.setEncoding('utf8'), 'data'), once(child, 'exit')])) as [
    string | number,
  ];
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  return {
    note: `${String(count).trim()} of ${connections} readers with a receive buffer of 2 KiB connected in ${seconds} s`,
    stop: async () => {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

async function startReadersInNode({ connections, ...others }: ReaderOptions): Promise<Readers> {
  const [slow, stuck] = others.bytesPerSecond === 0 ? [0, connections] : [connections, 0];
  const readers = startLoad('readSlowly', { ...others, slow, stuck, milliseconds: measuredMs + 30_000 });
  await readers.ready;
  return {
    note: 'LESS HOSTILE: without python3, the system buffers most of each response',
    stop: async () => {
      readers.stop();
      await readers.report;
    },
  };
}

/** Samples the number of open connections until the signal. Stops a server that uses too much memory. */
async function watchConnections(
  { server }: ScenarioContext,
  filesBefore: number,
  signal: AbortSignal,
): Promise<string> {
  const start = performance.now();
  const samples: { seconds: number; open: number }[] = [];
  while (!signal.aborted && server.isRunning) {
    if (server.watch.memory() > maxServerBytes) await server.stop();
    samples.push({ seconds: (performance.now() - start) / 1000, open: server.watch.openFiles() - filesBefore });
    await sleep(250);
  }
  const every = Math.ceil(samples.length / 12);
  const picked = samples.filter((_, n) => n % every === 0 || n === samples.length - 1);
  const text = picked.map(({ seconds, open }) => `${open} at ${seconds.toFixed(0)} s`).join(', ');
  return `open connections (with the other user's) after all had connected: ${text}`;
}
