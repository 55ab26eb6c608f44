import { fileURLToPath } from 'node:url';

export const root: string = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the URL of a file in `src`, for code that another process imports. */
export function sourceUrl(path: string): string {
  return new URL(`../../src/${path}`, import.meta.url).href;
}

const isDist = process.env['TEST_DIST'] !== undefined;

/**
 * The program `plant-store`. `npm test` uses the built program, which starts faster. Other test runs use the
 * source, so that a single test file needs no build and coverage includes the process.
 */
export const main: string = isDist ? `${root}dist/cli/main.js` : fileURLToPath(sourceUrl('cli/main.ts'));
