import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readDocument } from '../support/documents.ts';
import { root } from '../support/sources.ts';

/** Reads the names that a public entry exports. Its file contains nothing but named exports. */
async function readEntry(file: string) {
  const module = file.replace('.ts', '');
  const code = await readDocument(`src/${file}`);
  const namesIn = (exports: RegExp): string[] =>
    Array.from(code.matchAll(exports), ([, names = '']) => names.match(/\w+/g) ?? []).flat();
  return {
    module,
    /** What a program imports, such as `plant-store/http`. */
    specifier: module === 'index' ? 'plant-store' : `plant-store/${module}`,
    /** The exported functions, classes and constants. */
    values: namesIn(/^export \{([^}]*)\}/gm),
    types: namesIn(/^export type \{([^}]*)\}/gm),
  };
}

const files = (await readdir(join(root, 'src'))).filter((name) => name.endsWith('.ts'));

/** The public API. */
export const entries = await Promise.all(files.sort().map(readEntry));
