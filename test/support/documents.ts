import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const root: string = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the pages of `docs`, as paths from the root. */
export async function listDocs(): Promise<string[]> {
  return (await readdir(join(root, 'docs'))).sort().map((name) => `docs/${name}`);
}

/** Reads a document of the repository; `path` starts at the root. */
export function readDocument(path: string): Promise<string> {
  return readFile(join(root, path), 'utf8');
}
