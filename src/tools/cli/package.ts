import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from './command.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/[\\/]$/, '');

export function version(): string {
  return (JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { version: string }).version;
}

/**
 * Returns the result of `load`, which loads an optional package.
 *
 * @throws {UsageError} if the package is not installed. `source` is the flag or the variable that requires the package.
 */
export function loadOptional<T>(name: string, source: string, load: (require: NodeJS.Require) => T): T {
  try {
    return load(createRequire(import.meta.url));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    throw new UsageError(`${source} needs the package ${name}. Run ${installCommand(name)}.`, { cause: error });
  }
}

/** Returns the command that installs an optional package where this package finds it. */
export function installCommand(name: string, folder: string = root): string {
  const parent = dirname(folder);
  const project = basename(parent) === 'node_modules' ? dirname(parent) : folder;
  // npm installs global packages in lib/node_modules of its prefix.
  if (project === folder || basename(project) !== 'lib') return `npm install --prefix ${project} ${name}`;
  const global = `npm install --global --prefix ${dirname(project)} ${name}`;
  return `${global}, or in a container, build the image with --build-arg EXTRA_PACKAGES=${name}`;
}
