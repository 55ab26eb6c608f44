import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import { root } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';
import { pack, run } from './pack.ts';

// The tests copy one installation, because `npm install` is slow.
const installed = await temporaryFolder({ after });
const { filename } = await pack('--pack-destination', installed);
await writeFile(join(installed, 'package.json'), '{"private":true,"type":"module"}');
await run(installed, 'npm', ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', `./${filename}`]);
const modules = join(installed, 'node_modules');
await cp(join(modules, 'plant-store'), join(modules, 'plant-store-copy'), { recursive: true });

/** Creates a folder that contains an ES module package, with two copies of plant-store from its tarball. */
export async function installPackage(t: HasAfter): Promise<string> {
  const folder = await temporaryFolder(t);
  await cp(installed, folder, { recursive: true, verbatimSymlinks: true });
  return folder;
}

/** Makes `@types/node` and other packages of this repository available to the programs in a folder. */
export async function linkTypes(folder: string, ...others: readonly string[]): Promise<void> {
  for (const name of ['@types/node', 'undici-types', ...others]) {
    const link = join(folder, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(root, 'node_modules', name), link, 'dir');
  }
}
