import { createRequire } from 'node:module';
import { UsageError } from './command-line.ts';

const require = createRequire(import.meta.url);

export const version: string = (require('../../package.json') as { version: string }).version;

/** Loads an optional package. `source` is the flag or the environment variable that requires the package. */
export function loadOptional<T>(name: string, source: string, load: (require: NodeJS.Require) => T): T {
  try {
    return load(require);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    const command = `npm install ${name}, or npm install --global ${name} if plant-store is installed globally`;
    throw new UsageError(`${source} needs the package ${name}. Run ${command}.`, { cause: error });
  }
}
