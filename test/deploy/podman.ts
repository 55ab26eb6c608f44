import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { runProgram, runSuccessfully } from '../support/run-program.ts';
import { hasProgram } from '../support/system-fault.ts';

/**
 * Prepares the namespaces, and ends when standard input ends. crun refuses to run if cgroup v1 is in use and cgroup v2
 * has controllers too, so the latter is hidden.
 */
const holder = `
if test -e /sys/fs/cgroup/unified; then mount -t tmpfs tmpfs /sys/fs/cgroup/unified; fi
echo ready
exec cat`;

/**
 * Flags for containers that need few permissions: the limits may not exceed those of this process, cgroups cannot be
 * created everywhere, and a network bridge needs a firewall.
 */
const runFlags = ['--ulimit=nofile=1024:1024', '--ulimit=nproc=1024:1024', '--cgroups=disabled', '--network=host'];

/**
 * Podman with its own storage, in its own mount and process namespaces. After the test, the kernel ends the containers
 * and removes the mounts with the namespaces, even if the test is killed, and the images are removed with the folder.
 */
export class Podman {
  /** A temporary folder for the test. */
  readonly folder: string;
  /** The arguments of nsenter that run Podman. */
  readonly #args: readonly string[];

  private constructor(folder: string, holderPid: number) {
    const namespaces = `/proc/${holderPid}/ns`;
    const enter = [`--mount=${namespaces}/mnt`, `--pid=${namespaces}/pid_for_children`];
    const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--log-level=fatal'];
    this.folder = folder;
    this.#args = [...enter, 'podman', ...storage];
  }

  /** Prepares Podman. If it cannot be used on this machine, the test is skipped with the reason. */
  static async start(t: TestContext): Promise<Podman | undefined> {
    if (!['podman', 'unshare', 'tar', 'ldd'].every((name) => hasProgram(t, name))) return undefined;
    if (process.getuid?.() !== 0) {
      t.skip('the namespaces for Podman need root');
      return undefined;
    }
    const folder = await mkdtemp(join(tmpdir(), 'plant-store-'));
    const flags = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
    const child = spawn('unshare', [...flags, 'sh', '-c', holder], { stdio: ['pipe', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    t.after(async () => {
      child.stdin.end();
      await exited;
      await rm(folder, { recursive: true, force: true });
    });
    const isReady = await Promise.race([once(child.stdout, 'data').then(() => true), exited.then(() => false)]);
    if (isReady && child.pid !== undefined) return new Podman(folder, child.pid);
    t.skip('this process may not create namespaces for Podman');
    return undefined;
  }

  /** Returns whether Podman can run an image here. If it cannot, the test is skipped with the reason. */
  async canRun(t: TestContext, image: string): Promise<boolean> {
    const { code, stderr } = await runProgram('nsenter', [...this.#args, 'run', '--rm', ...runFlags, image, 'env']);
    if (code !== 0) t.skip(`podman cannot run a container here: ${stderr.trim()}`);
    return code === 0;
  }

  /** Runs Podman until it ends, asserts that it succeeds, and returns its standard output. */
  run(...args: string[]): Promise<string> {
    return runSuccessfully('nsenter', [...this.#args, ...args]);
  }

  /** Starts a container. The process ends with the exit code of the container. */
  startContainer(...args: string[]): ChildProcess {
    return spawn('nsenter', [...this.#args, 'run', ...runFlags, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  }
}
