import { readFileSync, realpathSync } from 'node:fs';

/** Returns whether a file or folder is a mount point, or `false` if this is unknown. See proc_pid_mountinfo(5). */
export function isMountPoint(path: string): boolean {
  return mountPoints().includes(realpathSync(path));
}

function mountPoints(): string[] {
  try {
    const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    const unescape = (_: string, octal: string): string => String.fromCharCode(parseInt(octal, 8));
    return lines.map((line) => (line.split(' ')[4] ?? '').replace(/\\(\d{3})/g, unescape));
  } catch {
    return [];
  }
}
