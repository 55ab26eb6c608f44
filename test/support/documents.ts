import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from './sources.ts';

/** Returns the pages of `docs`, as paths from the root folder. */
export async function listDocs(): Promise<string[]> {
  const names = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md'));
  return names.sort().map((name) => `docs/${name}`);
}

/** Reads a file of the repository. `path` is relative to the root folder. */
export function readDocument(path: string): Promise<string> {
  return readFile(join(root, path), 'utf8');
}
