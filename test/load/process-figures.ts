import { readFileSync, writeFileSync } from 'node:fs';

// These figures are read from /proc. When the process has ended, and on other systems, they are NaN.

/** Returns the resident memory of a process in bytes. */
export function residentBytes(pid: number): number {
  return read(pid, 'status', /^VmRSS:\s*(\d+) kB/m) * 1024;
}

/** Returns the peak of the resident memory in bytes, since {@link resetPeak} was called. */
export function peakBytes(pid: number): number {
  return read(pid, 'status', /^VmHWM:\s*(\d+) kB/m) * 1024;
}

export function resetPeak(pid: number): void {
  try {
    // https://docs.kernel.org/filesystems/proc.html: 5 resets VmHWM.
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Without this, the peak is that since the start of the process.
  }
}

/** Returns the user and system time of all threads of a process, in seconds. */
export function cpuSeconds(pid: number): number {
  // On Linux, the unit is always a hundredth of a second.
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
