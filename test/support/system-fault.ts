import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rmdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** Whether a program of the system is there; where it is not, the test is skipped and says so. */
export function hasProgram(t: TestContext, name: string): boolean {
  if (spawnSync(name, ['--version']).error === undefined) return true;
  t.skip(`${name} is not installed`);
  return false;
}

/** The largest file that a process may write, in bytes; more fails with EFBIG (Node.js ignores SIGXFSZ). */
export function limitFileSize(pid: number, bytes: number | 'unlimited'): void {
  // Without what follows the colon the hard limit stays.
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
}

/** A folder that is a small file system of its own, gone after the test; `undefined` where this process may not mount. */
export async function mountSmallFolder(t: TestContext, megabytes: number): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
  t.after(async () => {
    // Lazy, since a server may still have files open.
    if (status === 0) execFileSync('umount', ['--lazy', folder]);
    await rmdir(folder);
  });
  return status === 0 ? folder : undefined;
}

/**
 * Makes a file or a folder read-only for this process too; returns what undoes it. Modes do not bind
 * root, so root mounts the path onto itself; without root the mode is changed. Returns `undefined`
 * if root may not mount.
 */
export async function makeReadOnly(path: string): Promise<(() => Promise<void>) | undefined> {
  if (process.getuid?.() !== 0) {
    const { mode } = await stat(path);
    await chmod(path, mode & 0o555);
    return () => chmod(path, mode);
  }
  if (spawnSync('mount', ['--bind', path, path]).status !== 0) return undefined;
  execFileSync('mount', ['-o', 'remount,bind,ro', path]);
  return async () => {
    execFileSync('umount', ['--lazy', path]);
  };
}

/** A strace that was attached to a process. */
export interface AttachedStrace {
  /** Resolves when the process runs by itself again. */
  readonly detach: () => Promise<void>;
}

/**
 * Attaches strace to all threads of a process; what it traces goes to the
 * file `output`. Where that is not possible the test is skipped and says why.
 */
export async function attachStrace(
  t: TestContext,
  pid: number,
  args: readonly string[],
  output = '/dev/null',
): Promise<AttachedStrace | undefined> {
  if (!hasProgram(t, 'strace')) return undefined;
  const strace = spawn('strace', ['-f', '-o', output, ...args, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const closed = once(strace, 'close');
  const detach = async (): Promise<void> => {
    strace.kill('SIGINT');
    await closed;
  };
  t.after(detach);
  let said = '';
  const isAttached = await new Promise<boolean>((resolve) => {
    strace.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
      if (/Process \d+ attached/.test(said)) resolve(true);
    });
    void closed.then(() => {
      resolve(false);
    });
  });
  if (isAttached) return { detach };
  t.skip(`strace cannot attach to a process: ${said.trim()}`);
  return undefined;
}
