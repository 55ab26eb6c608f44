import { readFileSync } from 'node:fs';

/** Returns the id of a process and of all processes that it started, according to /proc. */
function processTree(pid: number): number[] {
  let children = '';
  try {
    children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  } catch {
    // It has ended.
  }
  return [
    pid,
    ...children
      .split(' ')
      .filter(Boolean)
      .flatMap((child) => processTree(Number(child))),
  ];
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
