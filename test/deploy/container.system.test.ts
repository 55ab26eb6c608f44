import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, copyFile, cp, mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { pack } from '../package/pack.ts';
import { callService } from '../support/call.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/listen.ts';
import { runSuccessfully } from '../support/run-program.ts';
import { untilListening } from '../support/server-process.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { root } from '../support/sources.ts';
import { Podman } from './podman.ts';

/** What the Containerfile runs, besides `node` and `npm`. */
const programs = ['sh', 'env', 'mkdir', 'chown', 'rm'];

/**
 * Returns the folder of this machine's npm. If npm does not contain its dependencies, as in Debian's package, the test is
 * skipped with the reason.
 */
async function findNpm(t: TestContext): Promise<string | undefined> {
  // The program is npm/bin/npm-cli.js.
  const npm = dirname(dirname(await realpath(pathOf('npm'))));
  try {
    await access(join(npm, 'node_modules/semver'));
    return npm;
  } catch {
    t.skip(`${npm} does not contain the dependencies of npm`);
    return undefined;
  }
}

/**
 * Fills a folder with the root file system of a base image, from the files of this machine: the Node.js that runs the
 * tests, npm, a shell, a few other programs, and the libraries that they need. Paths and users are those of the image
 * `node:26-slim`. With this image, the tests need no registry of images.
 */
async function makeRootFileSystem(folder: string, npm: string): Promise<void> {
  for (const path of ['bin', 'dev', 'proc', 'root', 'sys', 'tmp', 'usr/bin', 'usr/local/bin', 'etc']) {
    await mkdir(join(folder, path), { recursive: true });
  }
  await chmod(join(folder, 'tmp'), 0o1777);
  await writeFile(join(folder, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n');
  await writeFile(join(folder, 'etc/group'), 'root:x:0:\nnode:x:1000:\n');

  const binaries = await Promise.all(programs.map((name) => realpath(pathOf(name))));
  await copyFile(process.execPath, join(folder, 'usr/local/bin/node'));
  for (const [index, name] of programs.entries()) {
    await copyFile(binaries[index] ?? '', join(folder, 'usr/bin', name));
  }
  await symlink('/usr/bin/sh', join(folder, 'bin/sh'));
  for (const library of await librariesOf([process.execPath, ...binaries])) {
    await mkdir(join(folder, dirname(library)), { recursive: true });
    await copyFile(library, join(folder, library));
  }

  await cp(npm, join(folder, 'usr/local/lib/node_modules/npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'usr/local/bin/npm'));
}

function pathOf(name: string): string {
  return spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
}

async function librariesOf(binaries: readonly string[]): Promise<Set<string>> {
  const libraries = new Set<string>();
  for (const binary of binaries) {
    // Lines of ldd: "libm.so.6 => /lib/libm.so.6 (0x7f…)" and "/lib64/ld-linux-x86-64.so.2 (0x7f…)".
    for (const [path] of (await runSuccessfully('ldd', [binary])).matchAll(/\/\S+(?= \()/g)) libraries.add(path);
  }
  return libraries;
}

/** Builds the image of the Containerfile, without a network. Returns `undefined` if containers cannot run here. */
async function buildImage(t: TestContext, podman: Podman): Promise<string | undefined> {
  const npm = await findNpm(t);
  if (npm === undefined) return undefined;
  const files = join(podman.folder, 'files');
  await makeRootFileSystem(files, npm);
  const archive = join(podman.folder, 'files.tar');
  await runSuccessfully('tar', ['--create', '--file', archive, '--directory', files, '.']);
  await podman.run('import', '--quiet', archive, 'localhost/node');
  if (!(await podman.canRun(t, 'localhost/node'))) return undefined;

  const context = join(podman.folder, 'context');
  await mkdir(context);
  await copyFile(join(root, 'deploy/container/Containerfile'), join(context, 'Containerfile'));
  await pack('--pack-destination', context);
  const flags = ['--format=docker', '--pull=never', '--network=none', '--build-arg=NODE_IMAGE=localhost/node'];
  await podman.run('build', '--quiet', ...flags, '--tag=localhost/plant-store', context);
  return 'localhost/plant-store';
}

/** Starts a container with a read-only root and a volume. Docker mounts no temporary folders, so Podman must not. */
async function startContainer(
  t: TestContext,
  podman: Podman,
  image: string,
  name: string,
): Promise<ServerProcess & { adminUrl: string; exitCode: Promise<number | null> }> {
  const adminPort = await freePort();
  const variables = ['--env=PORT=0', `--env=PLANT_STORE_ADMIN_PORT=${adminPort}`];
  const flags = ['--read-only', '--read-only-tmpfs=false', '--volume=plants:/data', ...variables];
  const child = podman.startContainer('--name', name, ...flags, image);
  const exitCode = once(child, 'exit').then(([code]) => code as number | null);
  const server = await untilListening(t, child, /^Plant Store listening on http:\/\/0\.0\.0\.0:(\d+)\n/m);
  return { ...server, adminUrl: `http://127.0.0.1:${adminPort}`, exitCode };
}

describe('deploy/container/Containerfile', () => {
  it('builds an image that keeps its data in a volume and stops gracefully', async (t) => {
    const podman = await Podman.start(t);
    const image = podman && (await buildImage(t, podman));
    if (podman === undefined || image === undefined) return;

    const first = await startContainer(t, podman, image, 'first');
    const readToken = ['node', '--print', 'fs.readFileSync("first-token.txt", "utf8").trim()'];
    const token = (await podman.run('exec', 'first', ...readToken)).trim();
    const created = await callService(first.url, 'POST', '/plants', { token, body: '{"id":1,"name":"Fern"}' });
    assert.equal(created.status, 200);
    const listed = await callService(first.url, 'GET', '/plants', { token });
    assert.deepEqual(listed.json, [{ name: 'Fern' }]);
    await eventually(async () => {
      assert.equal((await fetch(`${first.adminUrl}/ready`)).status, 200);
    });
    await podman.run('healthcheck', 'run', 'first');
    const idsAndModes = 'fs.readdirSync(".").map((name) => [fs.statSync(name).uid, fs.statSync(name).mode & 0o77])';
    const inside = `JSON.stringify([process.getuid(), process.getgid(), ...${idsAndModes}.flat()])`;
    const [uid, gid, ...files] = JSON.parse(await podman.run('exec', 'first', 'node', '--print', inside)) as number[];
    assert.deepEqual([uid, gid], [1000, 1000]);
    assert.deepEqual([...new Set(files)].sort(), [0, 1000]);

    const other = await podman.run('exec', 'first', 'plant-store', 'token', 'create', 'ada');
    const adasToken = /pst_\w+/.exec(other)?.[0] ?? '';
    await eventually(async () => {
      assert.deepEqual((await callService(first.url, 'GET', '/plants', { token: adasToken })).json, []);
    });

    // Podman sends SIGTERM, and SIGKILL after 10 seconds. The exit code would then be 137.
    await podman.run('stop', 'first');
    assert.equal(await first.exitCode, 0, first.stderr());
    await podman.run('rm', 'first');

    const second = await startContainer(t, podman, image, 'second');
    assert.deepEqual((await callService(second.url, 'GET', '/plants', { token })).json, [{ name: 'Fern' }]);
  });
});
