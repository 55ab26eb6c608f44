import { spawnSync } from 'node:child_process';
import { access, chmod, copyFile, cp, mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { runSuccessfully } from '../support/run-program.ts';

/** What the Containerfile runs, besides `node` and `npm`. */
const programs = ['sh', 'env', 'mkdir', 'chown', 'rm'];

/**
 * Returns the folder of this machine's npm. If npm does not contain its dependencies, as in Debian's package, the test is
 * skipped with the reason.
 */
export async function findNpm(t: TestContext): Promise<string | undefined> {
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
export async function makeRootFileSystem(folder: string, npm: string): Promise<void> {
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
