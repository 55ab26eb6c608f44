import { access, readdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A checkout of this project with a built `dist` folder. */
export interface Build {
  /** The folder as given to `--against`; `undefined` for this checkout. */
  readonly folder: string | undefined;
  /** The path of its command line program. */
  readonly program: string;
}

/** Finds the build in a folder, by default in this checkout. */
export async function findBuild(folder?: string): Promise<Build> {
  const root = folder ?? fileURLToPath(new URL('../..', import.meta.url));
  const { bin } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { bin: { 'plant-store': string } };
  const program = resolve(root, bin['plant-store']);
  await access(program).catch((cause: unknown) => {
    throw new Error(`${program} is missing. Run 'npm ci && npm run build' in ${root}.`, { cause });
  });
  return { folder, program };
}

/**
 * Returns whether the source code of a command line program contains this connection string parameter. A build without
 * the parameter may ignore it, or take it for a part of the file name and create an empty file.
 */
export async function supportsParameter(program: string, parameter: string): Promise<boolean> {
  const folder = dirname(program);
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.js'));
  const sources = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  return sources.some((source) => source.includes(parameter));
}
