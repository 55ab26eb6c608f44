import { listedUser } from '../bench/data-set.ts';
import type { StatsReport } from './clients/response-stats.ts';
import type { ScenarioResult } from './scenario-runner.ts';
import { maxResponseMs } from './server.ts';
import type { Exit, Memory, ServerUnderLoad } from './server.ts';
import type { Row } from './table.ts';

const maxCollections = 10;
const nearIdleBytes = 10 * 2 ** 20;

/** Waits for the later notes of a scenario, checks and stops its server, and returns the row. */
export async function measureRow(
  scenario: string,
  server: ServerUnderLoad,
  result: ScenarioResult,
  idle: { memory: Memory; openFiles: number },
): Promise<Row> {
  const { verdict, stats, refused, notes = [], laterNotes } = result;
  const later = (await laterNotes?.()) ?? [];
  const health = result.health ?? (await checkHealth(server));
  const peakBytes = server.watch.peakMemory();
  const remaining = await remainingMemory(server, idle.memory);
  const connections = server.watch.mostOpenFiles() - idle.openFiles;
  const wasRunning = server.isRunning;
  const exit = await server.stop();
  return {
    scenario,
    verdict,
    connections,
    served: stats === undefined ? NaN : servedOf(stats),
    refused: refused ?? (stats === undefined ? '' : describeRefused(stats)),
    p50Ms: stats?.p50Ms ?? NaN,
    p99Ms: stats?.p99Ms ?? NaN,
    peakBytes: peakBytes - idle.memory.residentBytes,
    residentBytes: remaining.residentBytes - idle.memory.residentBytes,
    usedBytes: remaining.usedBytes - idle.memory.usedBytes,
    health,
    notes: [...notes, ...later, ...faultNotes(server), ...(wasRunning ? exitNotes(exit) : [])],
  };
}

/** Measures the memory of the server without requests, after several garbage collections if necessary. */
async function remainingMemory(server: ServerUnderLoad, idle: Memory): Promise<Memory> {
  let remaining: Memory = { usedBytes: NaN, residentBytes: NaN };
  for (let tries = 0; tries < maxCollections && server.isRunning; tries++) {
    remaining = await server.memory();
    if (remaining.usedBytes - idle.usedBytes < nearIdleBytes) break;
  }
  return remaining;
}

async function checkHealth(server: ServerUnderLoad): Promise<string> {
  if (!server.isRunning) return `no: it ended with ${describeExit(server.exit)}`;
  try {
    const ms = await server.responseTime(listedUser);
    return ms < 1000 ? `yes, ${ms.toFixed(0)} ms` : `no: ${(ms / 1000).toFixed(1)} s`;
  } catch (error) {
    const isTimeout = error instanceof Error && error.name === 'AbortError';
    return isTimeout ? `no: no response within ${maxResponseMs / 1000} s` : `no: ${String(error)}`;
  }
}

function servedOf({ statuses }: StatsReport): number {
  return Object.entries(statuses).reduce((sum, [status, count]) => sum + (Number(status) < 300 ? count : 0), 0);
}

function describeRefused({ statuses, closed, unanswered }: StatsReport): string {
  const parts = Object.entries(statuses)
    .filter(([status]) => Number(status) >= 300)
    .map(([status, count]) => `${count} × ${status}`);
  if (closed > 0) parts.push(`${closed} closed`);
  if (unanswered > 0) parts.push(`${unanswered} without a response`);
  return parts.length === 0 ? '0' : parts.join(', ');
}

function faultNotes(server: ServerUnderLoad): string[] {
  return [...server.faults()].slice(0, 5).map(([fault, count]) => `${count} × in the log: ${fault}`);
}

function exitNotes(exit: Exit): string[] {
  return exit.code === 0 && exit.seconds < 3
    ? []
    : [`stopped with ${describeExit(exit)} after ${exit.seconds.toFixed(1)} s`];
}

export function describeExit({ code, signal }: Pick<Exit, 'code' | 'signal'>): string {
  return signal ?? `exit code ${String(code)}`;
}
