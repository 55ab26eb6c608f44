import { readFileSync, writeFileSync } from 'node:fs';

// These figures are read from /proc. They are NaN if the process has ended or the system has no /proc.

/** Returns a process's resident memory in bytes. */
export function residentBytes(pid: number): number {
  return read(pid, 'status', /^VmRSS:\s*(\d+) kB/m) * 1024;
}

/** Returns a process's peak resident memory in bytes since the call to {@link resetPeak}. */
export function peakBytes(pid: number): number {
  return read(pid, 'status', /^VmHWM:\s*(\d+) kB/m) * 1024;
}

export function resetPeak(pid: number): void {
  try {
    // The value 5 resets VmHWM: https://docs.kernel.org/filesystems/proc.html
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // If the peak cannot be reset, `peakBytes` returns the peak since the process started.
  }
}

/** Returns the total user and system time of a process's threads in seconds. */
export function cpuSeconds(pid: number): number {
  // On Linux, /proc counts CPU time in hundredths of a second.
  const fields = /^.*\)(?: \S+){11} (\d+) (\d+)/s;
  return (read(pid, 'stat', fields, 1) + read(pid, 'stat', fields, 2)) / 100;
}

function read(pid: number, file: string, pattern: RegExp, group = 1): number {
  try {
    return Number(pattern.exec(readFileSync(`/proc/${pid}/${file}`, 'latin1'))?.[group]);
  } catch {
    return NaN;
  }
}
