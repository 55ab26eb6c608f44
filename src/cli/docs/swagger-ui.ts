import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { UsageError } from '../command.ts';

/**
 * Returns a function that reads a file from the swagger-ui-dist package, an optional peer dependency.
 *
 * @throws {UsageError} if the package is not installed. `source` is the flag or the environment variable that requires
 *   the package.
 */
export function openSwaggerUi(source: string): (name: string) => Buffer {
  const folder = findPackage(source);
  return (name) => readFileSync(join(folder, name));
}

function findPackage(source: string): string {
  try {
    return dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    throw new UsageError(`${source} needs the package swagger-ui-dist: npm install swagger-ui-dist`, { cause: error });
  }
}
