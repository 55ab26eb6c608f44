import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root folder of the repository. */
export const root: string = fileURLToPath(new URL('../..', import.meta.url));

/** With `--import`, Node.js runs TypeScript. */
export const tsx: string = import.meta.resolve('tsx');

/** Returns the URL of a file in `src`, for code that another process imports. */
export function sourceUrl(path: string): string {
  return new URL(`../../src/${path}`, import.meta.url).href;
}

/** The program `plant-store`, in TypeScript. */
export const main: string = fileURLToPath(sourceUrl('tools/cli/main.ts'));

/**
 * The arguments of Node.js that run `plant-store`: from the build, which starts faster, or from the source code while its
 * coverage is measured.
 */
export const plantStore: readonly string[] =
  process.env['NODE_V8_COVERAGE'] === undefined ? [join(root, 'dist/tools/cli/main.js')] : ['--import', tsx, main];
