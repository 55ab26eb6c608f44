import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import { pack } from '../package/pack.ts';
import { callService } from '../support/call.ts';
import { readDocument } from '../support/documents.ts';
import { eventuallyEqual } from '../support/eventually.ts';
import { freePort } from '../support/listen.ts';
import { runSuccessfully } from '../support/run-program.ts';
import { untilListening } from '../support/server-process.ts';
import { hasProgram } from '../support/system-fault.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/**
 * Prepares the namespaces, and exits when standard input ends. crun refuses to run if cgroup v1 is in use and cgroup v2
 * also has controllers. The script therefore hides cgroup v2.
 */
const holder = `
if test -e /sys/fs/cgroup/unified; then mount -t tmpfs tmpfs /sys/fs/cgroup/unified; fi
echo ready
exec cat`;

/**
 * Flags with which a container needs few permissions. The limits must not exceed those of this process, some machines
 * do not allow cgroups to be created, and a network bridge requires a firewall.
 */
const runFlags = ['--ulimit=nofile=1024:1024', '--ulimit=nproc=1024:1024', '--cgroups=disabled', '--network=host'];

/**
 * Makes an archive of the root file system of a base image. Its files come from this machine: the Node.js that runs the
 * tests, npm, the programs that the Containerfile runs, and the libraries of all these programs. Paths and users match
 * the image `node:26-slim`. With this base image, the tests do not need an image registry.
 */
const makeBaseImage = `
npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
test -e "$npm/node_modules/semver" || { echo "$npm does not contain the dependencies of npm" >&2; exit 1; }
mkdir files
cd files
mkdir -p bin dev proc root sys tmp usr/bin usr/local/bin usr/local/lib/node_modules etc
chmod 1777 tmp
printf 'root:x:0:0::/root:/bin/sh\\nnode:x:1000:1000::/home/node:/bin/sh\\n' > etc/passwd
printf 'root:x:0:\\nnode:x:1000:\\n' > etc/group
cp "$1" usr/local/bin/node
for name in sh env mkdir chown rm; do cp -L "$(command -v $name)" usr/bin; done
ln -s /usr/bin/sh bin/sh
cp -L --parents $(ldd usr/local/bin/node usr/bin/* | grep -o '/[^ ]* (' | tr -d ' (' | sort -u) .
cp -r "$npm" usr/local/lib/node_modules/npm
ln -s ../lib/node_modules/npm/bin/npm-cli.js usr/local/bin/npm
tar --create --file ../files.tar .
`;

type Podman = NonNullable<Awaited<ReturnType<typeof startPodman>>>;

/**
 * Prepares Podman with its own storage, in its own mount and process namespaces, and imports the base image. If
 * containers cannot run on this machine, the test is skipped with the reason. The kernel ends the containers and
 * removes the mounts and namespaces, even if the test is killed.
 */
async function startPodman(t: TestContext) {
  if (!['podman', 'unshare', 'tar', 'ldd'].every((name) => hasProgram(t, name))) return undefined;
  const flags = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const child = spawn('unshare', [...flags, 'sh', '-c', holder], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  t.after(async () => {
    child.stdin.end();
    await exited;
  });
  await Promise.race([once(child.stdout, 'data'), exited]);
  const folder = await temporaryFolder(t);
  const namespaces = `/proc/${child.pid}/ns`;
  const enter = [`--mount=${namespaces}/mnt`, `--pid=${namespaces}/pid_for_children`];
  const podman = ['podman', '--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--log-level=fatal'];
  /** Runs Podman until it ends, asserts that it succeeds, and returns its standard output. */
  const run = (...args: string[]): Promise<string> => runSuccessfully('nsenter', [...enter, ...podman, ...args]);
  try {
    await runSuccessfully('sh', ['-ec', makeBaseImage, 'sh', process.execPath], { cwd: folder });
    await run('import', '--quiet', join(folder, 'files.tar'), 'localhost/node');
    await run('run', ...runFlags, '--rm', 'localhost/node', 'env');
  } catch (error) {
    t.skip(`Podman cannot run a container here: ${(error as Error).message}`);
    return undefined;
  }
  return {
    folder,
    run,
    /** Creates a container. The returned process exits with the exit code of the container. */
    spawnContainer: (...args: string[]) =>
      spawn('nsenter', [...enter, ...podman, 'run', ...runFlags, ...args], { stdio: ['ignore', 'pipe', 'pipe'] }),
  };
}

/**
 * Starts a container with a read-only root file system and a volume. Docker does not mount temporary folders, so a flag
 * prevents Podman from mounting them.
 */
function startContainer(t: TestContext, podman: Podman, name: string) {
  // Kubernetes sets such variables for services named plant-store and plant-store-admin.
  const addresses = ['--env=PLANT_STORE_PORT=tcp://10.0.0.7:80', '--env=PLANT_STORE_ADMIN_PORT=tcp://10.0.0.7:80'];
  const flags = ['--read-only', '--read-only-tmpfs=false', '--volume=plants:/data', '--env=PORT=0', ...addresses];
  const child = podman.spawnContainer('--name', name, ...flags, 'localhost/plant-store');
  return untilListening(t, child, /^Plant Store listening on http:\/\/0\.0\.0\.0:(\d+)\n/m);
}

it('deploy/container › builds an image that keeps its data in a volume and stops gracefully', async (t) => {
  const podman = await startPodman(t);
  if (podman === undefined) return;
  const context = join(podman.folder, 'context');
  await mkdir(context);
  // The containers share the network of this machine, on which another process might use port 9000.
  const adminPort = await freePort();
  const containerfile = (await readDocument('deploy/container/Containerfile')).replaceAll('9000', String(adminPort));
  await writeFile(join(context, 'Containerfile'), containerfile);
  await pack(context);
  const flags = ['--format=docker', '--pull=never', '--network=none', '--build-arg=NODE_IMAGE=localhost/node'];
  await podman.run('build', '--quiet', ...flags, '--tag=localhost/plant-store', context);

  const first = await startContainer(t, podman, 'first');
  const evaluate = (code: string): Promise<string> => podman.run('exec', 'first', 'node', '--print', code);
  const token = (await evaluate('fs.readFileSync("first-token.txt", "utf8")')).trim();
  const created = await callService(first.url, 'POST', '/plants', { token, body: '{"id":1,"name":"Fern"}' });
  assert.equal(created.status, 200);
  await eventuallyEqual(async () => (await fetch(`http://127.0.0.1:${adminPort}/ready`)).status, 200);
  await podman.run('healthcheck', 'run', 'first');
  assert.match(first.stderr(), /PLANT_STORE_PORT is ignored/);
  const idsAndModes = 'fs.readdirSync(".").map((name) => [fs.statSync(name).uid, fs.statSync(name).mode & 0o77])';
  const ids = await evaluate(`JSON.stringify([process.getuid(), process.getgid(), ...${idsAndModes}.flat()])`);
  const [uid, gid, ...files] = JSON.parse(ids) as number[];
  assert.deepEqual([uid, gid], [1000, 1000]);
  assert.deepEqual([...new Set(files)].sort(), [0, 1000]);
  await podman.run('exec', 'first', 'plant-store', 'backup', 'copy.db');

  // Podman sends SIGTERM, and SIGKILL 10 seconds later. After SIGKILL, the exit code would be 137.
  await podman.run('stop', 'first');
  assert.equal(await first.exited, 0, first.stderr());
  await podman.run('rm', 'first');
  const second = await startContainer(t, podman, 'second');
  assert.deepEqual((await callService(second.url, 'GET', '/plants', { token })).json, [{ name: 'Fern' }]);
});
