import { setTimeout as sleep } from 'node:timers/promises';
import { listText } from './closed-loop.ts';
import { openConnection } from './connections.ts';
import type { Control } from './generator.ts';

/** Clients without a token that keep their connections open after one refused request. */
export interface HoldOptions {
  readonly port: number;
  readonly connections: number;
  readonly milliseconds: number;
  /** Whether a client opens a new connection 50 ms after the server closed the one before. */
  readonly isStubborn: boolean;
}

export interface HoldReport {
  /** Connections that had a response. */
  readonly answered: number;
  /** Connections that were reset or closed without a response, or could not be opened. */
  readonly refused: number;
  /** Connections that the server closed later. */
  readonly givenUp: number;
  readonly openAtEnd: number;
}

export async function holdAndReconnect(options: HoldOptions, control: Control): Promise<HoldReport> {
  const { port, connections, milliseconds, isStubborn } = options;
  const end = performance.now() + milliseconds;
  const report = { answered: 0, refused: 0, givenUp: 0, openAtEnd: 0 };
  const hold = async (onSettled: () => void): Promise<void> => {
    do {
      const outcome = await holdOne(port, end, () => {
        report.answered++;
        onSettled();
      });
      report[outcome]++;
      onSettled();
      await sleep(50);
    } while (isStubborn && performance.now() < end);
  };
  let settled = 0;
  const all = Array.from({ length: connections }, () => {
    let isSettled = false;
    return hold(() => {
      if (!isSettled && ++settled === connections) control.ready();
      isSettled = true;
    });
  });
  await Promise.all(all);
  return report;
}

async function holdOne(
  port: number,
  end: number,
  onAnswered: () => void,
): Promise<'refused' | 'givenUp' | 'openAtEnd'> {
  const socket = await openConnection({ port }).catch(() => undefined);
  if (socket === undefined) return 'refused';
  const closed = new Promise<boolean>((resolve) => {
    socket.once('data', onAnswered).once('close', () => {
      resolve(true);
    });
  });
  socket.write('GET /plants HTTP/1.1\r\nHost: x\r\n\r\n');
  const isClosed = await Promise.race([closed, sleep(end - performance.now(), false)]);
  socket.destroy();
  if (socket.bytesRead === 0) return 'refused';
  return isClosed ? 'givenUp' : 'openAtEnd';
}

/** Clients that arrive one after another, each on a connection of its own, and ask for a list of 20. */
export interface ArrivalOptions {
  readonly port: number;
  readonly clients: number;
  readonly everyMs: number;
  readonly user: string;
}

export interface ArrivalReport {
  readonly statuses: Readonly<Record<string, number>>;
  /** Reset or closed without a response, or not able to connect. */
  readonly refused: number;
  readonly unanswered: number;
  readonly longestMs: number;
}

const patienceMs = 5000;

export async function arrive(
  { port, clients, everyMs, user }: ArrivalOptions,
  control: Control,
): Promise<ArrivalReport> {
  control.ready();
  const outcomes: Promise<number | 'refused' | 'unanswered'>[] = [];
  let longestMs = 0;
  for (let n = 0; n < clients; n++) {
    const start = performance.now();
    const asked = askOnce(port, user);
    void asked.then(() => {
      longestMs = Math.max(longestMs, performance.now() - start);
    });
    outcomes.push(asked);
    await sleep(everyMs);
  }
  const all = await Promise.all(outcomes);
  const statuses: Record<string, number> = {};
  for (const outcome of all) if (typeof outcome === 'number') statuses[outcome] = (statuses[outcome] ?? 0) + 1;
  const count = (sought: string): number => all.filter((outcome) => outcome === sought).length;
  return { statuses, refused: count('refused'), unanswered: count('unanswered'), longestMs };
}

/** Makes one request on a new connection and returns the status. */
export async function askOnce(port: number, user: string): Promise<number | 'refused' | 'unanswered'> {
  const socket = await openConnection({ port }).catch(() => undefined);
  if (socket === undefined) return 'refused';
  const answered = new Promise<number | 'refused'>((resolve) => {
    socket.once('data', (chunk: Buffer) => {
      resolve(Number(chunk.toString('latin1', 9, 12)));
    });
    socket.once('close', () => {
      resolve('refused');
    });
  });
  socket.write(listText(user));
  const outcome = await Promise.race([answered, sleep(patienceMs, 'unanswered' as const, { ref: false })]);
  socket.destroy();
  return outcome;
}
