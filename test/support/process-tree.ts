import { readFileSync } from 'node:fs';

/** Returns the id of a process and of all processes that it started, according to /proc. */
export function processTree(pid: number): number[] {
  let children = '';
  try {
    children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  } catch {
    // It has ended.
  }
  const started = children.split(' ').filter(Boolean).map(Number);
  return [pid, ...started.flatMap(processTree)];
}

/**
 * Sends SIGKILL, SIGSTOP or SIGCONT to a process and to all processes that it started. They are stopped first, so
 * that none of them starts another one meanwhile.
 */
export function signalTree(pid: number, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  if (signal !== 'SIGCONT') sendSignal(pid, 'SIGSTOP');
  for (const each of processTree(pid)) sendSignal(each, signal);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
