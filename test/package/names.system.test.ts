import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { readDocument } from '../support/documents.ts';
import { root } from '../support/sources.ts';
import { entries, moduleOf, specifierOf } from './entries.ts';
import { readProgram } from './read-program.ts';
import { exportsOf } from './public-declarations.ts';

/** The first column of the table of public names in docs/embedding.md. */
async function documentedNames(): Promise<string[]> {
  const [, section = ''] = /^## Public names\n(.*?)^## /ms.exec(await readDocument('docs/embedding.md')) ?? [];
  const cells = [...section.matchAll(/^\| ([^|]*)\|/gm)].map(([, cell = '']) => cell);
  return cells.filter((cell) => !cell.startsWith('**')).flatMap((cell) => cell.match(/\w+(?=`)/g) ?? []);
}

/** The options of all options objects: the members of the exported interfaces whose names end with `Options`. */
function optionNames(): string[] {
  const symbols = entries.flatMap((entry) => exportsOf(moduleOf(entry)));
  const options = symbols.filter(({ name }) => name.endsWith('Options'));
  const members = options.flatMap((symbol) => [...(symbol.members?.values() ?? [])]);
  return members.filter(({ flags }) => (flags & ts.SymbolFlags.TypeParameter) === 0).map(({ name }) => name);
}

describe('docs/embedding.md', () => {
  it('gives a reason for each public name and option', async () => {
    const names = new Set([...entries.flatMap(({ values, types }) => [...values, ...types]), ...optionNames()]);
    assert.ok(names.has('maxCacheBytes'));
    assert.deepEqual((await documentedNames()).sort(), [...names].sort());
  });
});

for (const entry of entries) {
  const { values, types } = entry;
  const module = moduleOf(entry);

  describe(`names that ${specifierOf(entry)} exports`, () => {
    it('are the values of the table', async () => {
      const url = pathToFileURL(join(root, `dist/${module}.js`)).href;
      assert.deepEqual(Object.keys((await import(url)) as object).sort(), values);
    });

    it('are the values and types of the table, in the declarations', () => {
      const symbols = exportsOf(module);
      const names = (isValue: boolean): string[] =>
        symbols.filter(({ flags }) => ((flags & ts.SymbolFlags.Value) !== 0) === isValue).map(({ name }) => name);
      assert.deepEqual(names(true).sort(), values);
      assert.deepEqual(names(false).sort(), types);
    });

    it('are all used, if they are values, by the program that other tests compile, bundle and run', async () => {
      const imports = (await readProgram()).matchAll(/^import \{([^}]*)\} from '(.*)';$/gm);
      const used = [...imports].filter(([, , from]) => from === specifierOf(entry)).map(([, names = '']) => names);
      assert.deepEqual(used.join().match(/\w+/g)?.sort(), values);
    });
  });
}
