import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { requestHead } from '../bench/candidates.ts';
import { tokenOf } from '../bench/garden.ts';
import { CpuMeter, describeSteady, greedyUser, politeUser } from './beside.ts';
import { generate } from './generate.ts';
import type { Scene, Stage } from './stage.ts';

// A user has 30 plants whose names are 10,800 control characters each. JSON writes every one of them
// as six characters, so the list has 1.9 MB. Thousands of clients with a tiny receive window ask for
// it and read 200 bytes a second, or nothing. The server should not keep a copy for each of them:
// its memory should grow by 150 MiB at most. Another user makes 100 requests a second meanwhile.

const besideMs = 30_000;
/** Past this the server is killed, so that the machine survives the scenario. */
const maxServerBytes = 8 * 2 ** 30;
const program = fileURLToPath(new URL('slow-readers.py', import.meta.url));

/** How the clients read. */
export interface HostileReaders {
  readonly connections: number;
  /** 0: never. */
  readonly bytesPerSecond: number;
}

export async function hostileReaders(stage: Stage, { connections, bytesPerSecond }: HostileReaders): Promise<void> {
  const how = bytesPerSecond === 0 ? 'nothing' : `${bytesPerSecond} bytes a second`;
  const readersText = `${connections.toLocaleString('en-US')} readers of 1.9 MB of control characters take ${how}`;
  const scenario = `${readersText}, another user at 100 a second`;
  await stage.play(scenario, async (scene) => {
    await createLongNames(scene);
    const { server, port } = scene;
    const beside = generate('runSteadily', {
      port,
      user: politeUser,
      perSecond: 100,
      milliseconds: besideMs,
      works: ['create', 'list 20'],
    });
    await beside.ready;
    await sleep(500);
    const filesBefore = server.watch.openFiles();
    const cpu = new CpuMeter(server);
    const readers = await startReaders(port, connections, bytesPerSecond);
    const watching = new AbortController();
    const kept = watchConnections(scene, filesBefore, watching.signal);
    const steady = await beside.report;
    watching.abort();
    const notes = [readers.note, await kept, `the server used ${cpu.describe()}`, ...describeSteady(steady)];
    await readers.stop();
    return { tally: steady.all, notes };
  });
}

async function createLongNames({ port }: Scene): Promise<void> {
  const headers = { authorization: `Bearer ${tokenOf(greedyUser)}`, 'content-type': 'application/json' };
  for (let id = 1; id <= 30; id++) {
    const body = JSON.stringify({ id, name: '\u0001'.repeat(10_800) });
    const { status } = await fetch(`http://127.0.0.1:${port}/plants`, { method: 'POST', headers, body });
    if (status !== 200) throw new Error(`A long name was answered ${status}.`);
  }
}

interface Readers {
  readonly note: string;
  stop(): Promise<void>;
}

async function startReaders(port: number, connections: number, bytesPerSecond: number): Promise<Readers> {
  if (spawnSync('python3', ['--version']).status !== 0) return startReadersInNode(port, connections, bytesPerSecond);
  const child = spawn('python3', [program, String(port), String(connections), String(bytesPerSecond)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => undefined).write(`${requestHead('GET', '/plants', greedyUser)}\r\n`);
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

async function startReadersInNode(port: number, connections: number, bytesPerSecond: number): Promise<Readers> {
  const [slow, stuck] = bytesPerSecond === 0 ? [0, connections] : [connections, 0];
  const options = { slow, stuck, bytesPerSecond, target: '/plants', user: greedyUser, milliseconds: besideMs + 30_000 };
  const readers = generate('readSlowly', { port, ...options });
  await readers.ready;
  return {
    note: 'NOT AS HOSTILE AS MEANT: without python3 the system keeps most of each response in its own buffers',
    stop: async () => {
      readers.stop();
      await readers.report;
    },
  };
}

/** Samples how many connections are open until the signal; kills a server that grows too large. */
async function watchConnections({ server }: Scene, filesBefore: number, signal: AbortSignal): Promise<string> {
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
  return `connections open (the other user's included), since all had connected: ${text}`;
}
