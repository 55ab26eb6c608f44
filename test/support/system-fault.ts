import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { untilListening } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';
import { root } from './sources.ts';

/** Returns whether a program is installed. If the program is missing, the test is skipped with the reason. */
export function hasProgram(t: TestContext, name: string): boolean {
  if (spawnSync(name, ['--version']).error === undefined) return true;
  t.skip(`${name} is not installed`);
  return false;
}

/**
 * Returns the reason to skip tests that need the packages of a folder with its own package.json, such as
 * `test/runtimes`; `false` if the packages are installed.
 */
export function skipWithout(folder: string): string | false {
  if (existsSync(join(root, folder, 'node_modules/.package-lock.json'))) return false;
  return `not run: \`npm ci --prefix ${folder}\` installs what this test needs`;
}

/**
 * Mounts a file system of 1 MiB until the end of the test. If this process is not allowed to mount, the test is
 * skipped.
 */
export async function mountSmallFolder(t: TestContext): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=700', 'tmpfs', folder]);
  t.after(async () => {
    // The unmount is lazy, because a server might still have files open.
    if (status === 0) execFileSync('umount', ['--lazy', folder]);
    await rmdir(folder);
  });
  if (status === 0) return folder;
  t.skip('this process may not mount');
  return undefined;
}

/**
 * Attaches strace to all threads of a process, until strace is stopped with SIGINT. strace writes the trace to the file
 * `output`. If strace cannot be attached, the test is skipped with the reason.
 */
export async function attachStrace(
  t: TestContext,
  pid: number,
  args: readonly string[],
  output = '/dev/null',
): Promise<ServerProcess | undefined> {
  if (!hasProgram(t, 'strace')) return undefined;
  const strace = spawn('strace', ['-f', '-o', output, ...args, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    return await untilListening(t, strace, /Process \d+ attached/);
  } catch (error) {
    t.skip(`strace cannot attach to a process: ${(error as Error).message}`);
    return undefined;
  }
}
