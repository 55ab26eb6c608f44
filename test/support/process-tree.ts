import { readFileSync } from 'node:fs';

/** Returns the ids of a process and all its descendants, according to /proc. */
export function processTree(pid: number): number[] {
  let children = '';
  try {
    children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  } catch {
    // The process has ended.
  }
  const started = children.split(' ').filter(Boolean).map(Number);
  return [pid, ...started.flatMap(processTree)];
}

/**
 * Sends SIGKILL, SIGSTOP or SIGCONT to a process and all its descendants. Unless the signal is SIGCONT, the process
 * itself is stopped first, so that it starts no other process meanwhile.
 */
export function signalTree(pid: number, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  if (signal !== 'SIGCONT') sendSignal(pid, 'SIGSTOP');
  for (const each of processTree(pid)) sendSignal(each, signal);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended.
  }
}
