import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readDocument } from '../support/documents.ts';
import { root } from '../support/sources.ts';

/** A public entry of the package, and the names that its file in `src` exports. */
interface Entry {
  /** The name of the file, without its extension. */
  readonly module: string;
  /** The specifier with which a program imports the entry, such as `plant-store/http`. */
  readonly specifier: string;
  /** The exported functions, classes and constants. */
  readonly values: readonly string[];
  /** The exported types. */
  readonly types: readonly string[];
}

async function readEntry(file: string): Promise<Entry> {
  const module = file.replace('.ts', '');
  const code = await readDocument(`src/${file}`);
  const namesIn = (exports: RegExp): string[] =>
    Array.from(code.matchAll(exports), ([, names = '']) => names.match(/\w+/g) ?? []).flat();
  return {
    module,
    specifier: module === 'index' ? 'plant-store' : `plant-store/${module}`,
    values: namesIn(/^export \{([^}]*)\}/gm),
    types: namesIn(/^export type \{([^}]*)\}/gm),
  };
}

const files = (await readdir(join(root, 'src'))).filter((name) => name.endsWith('.ts'));

/** The public API. The files contain nothing but named exports. */
export const entries: readonly Entry[] = await Promise.all(files.sort().map(readEntry));
