import { setTimeout as sleep } from 'node:timers/promises';
import { listText } from './closed-loop.ts';
import { openConnection } from '../../bench/connections.ts';
import type { Control } from './load-process.ts';

/** Clients without a token that keep their connections open after a refused request. */
export interface HoldOptions {
  readonly port: number;
  readonly connections: number;
  readonly milliseconds: number;
  /** Whether a client opens a new connection 50 ms after the server closed the one before. */
  readonly reconnects: boolean;
}

export interface HoldReport {
  /** Connections that got a response. */
  readonly responded: number;
  /** Connections that were reset or closed without a response, or could not be opened. */
  readonly refused: number;
  /** Connections that the server closed later. */
  readonly closedLater: number;
  readonly openAtEnd: number;
}

export async function holdConnections(options: HoldOptions, control: Control): Promise<HoldReport> {
  const { port, connections, milliseconds, reconnects } = options;
  const end = performance.now() + milliseconds;
  const report = { responded: 0, refused: 0, closedLater: 0, openAtEnd: 0 };
  const hold = async (onSettled: () => void): Promise<void> => {
    do {
      const outcome = await holdOne(port, end, () => {
        report.responded++;
        onSettled();
      });
      report[outcome]++;
      onSettled();
      await sleep(50);
    } while (reconnects && performance.now() < end);
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
): Promise<'refused' | 'closedLater' | 'openAtEnd'> {
  const socket = await openConnection(port).catch(() => undefined);
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
  return isClosed ? 'closedLater' : 'openAtEnd';
}

/** Clients that connect one after another, and list 20 plants each. */
export interface ArrivalOptions {
  readonly port: number;
  readonly clients: number;
  readonly everyMs: number;
  readonly user: string;
}

export interface ArrivalReport {
  readonly statuses: Readonly<Record<string, number>>;
  /** Connections that were reset or closed without a response, or could not be opened. */
  readonly refused: number;
  readonly unanswered: number;
  readonly longestMs: number;
}

const maxWaitMs = 5000;

export async function arriveOneByOne(
  { port, clients, everyMs, user }: ArrivalOptions,
  control: Control,
): Promise<ArrivalReport> {
  control.ready();
  const outcomes: Promise<number | 'refused' | 'unanswered'>[] = [];
  let longestMs = 0;
  for (let n = 0; n < clients; n++) {
    const start = performance.now();
    const outcome = requestOnce(port, user);
    void outcome.then(() => {
      longestMs = Math.max(longestMs, performance.now() - start);
    });
    outcomes.push(outcome);
    await sleep(everyMs);
  }
  const all = await Promise.all(outcomes);
  const statuses: Record<string, number> = {};
  for (const outcome of all) if (typeof outcome === 'number') statuses[outcome] = (statuses[outcome] ?? 0) + 1;
  const count = (kind: string): number => all.filter((outcome) => outcome === kind).length;
  return { statuses, refused: count('refused'), unanswered: count('unanswered'), longestMs };
}

/** Sends one request on a new connection, and returns the status. */
export async function requestOnce(port: number, user: string): Promise<number | 'refused' | 'unanswered'> {
  const socket = await openConnection(port).catch(() => undefined);
  if (socket === undefined) return 'refused';
  const responded = new Promise<number | 'refused'>((resolve) => {
    socket.once('data', (chunk: Buffer) => {
      resolve(Number(chunk.toString('latin1', 9, 12)));
    });
    socket.once('close', () => {
      resolve('refused');
    });
  });
  socket.write(listText(user));
  const outcome = await Promise.race([responded, sleep(maxWaitMs, 'unanswered' as const, { ref: false })]);
  socket.destroy();
  return outcome;
}
