import { createRequire } from 'node:module';
import { UsageError } from './command.ts';

const require = createRequire(import.meta.url);

export const version: string = (require('../../package.json') as { version: string }).version;

/**
 * Returns the result of `load`, which loads an optional package.
 *
 * @throws {UsageError} if the package is not installed. `source` is the flag or the variable that requires the package.
 */
export function loadOptional<T>(name: string, source: string, load: (require: NodeJS.Require) => T): T {
  try {
    return load(require);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    const command = `npm install ${name}, or npm install --global ${name} if plant-store is installed globally`;
    throw new UsageError(`${source} needs the package ${name}. Run ${command}.`, { cause: error });
  }
}
