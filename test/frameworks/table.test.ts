import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { readDocument } from '../support/documents.ts';
import { examples } from './program.ts';

/** A row of the table: a file and its packages, with the versions that the tests use. */
interface Row {
  readonly file: string;
  readonly packages: readonly (readonly [name: string, version: string])[];
}

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>;
}

function parseRows(page: string): Row[] {
  const rows = page.matchAll(/^\| [^|]*\]\(\.\.\/examples\/frameworks\/([\w.-]+)\) +\| ([^|]*) \|$/gm);
  return Array.from(rows, ([, file = '', packages = '']) => ({
    file,
    packages: Array.from(packages.matchAll(/`(\S+)` (\d[\w.-]*)/g), ([, name = '', version = '']) => [name, version]),
  }));
}

describe('the table of integrations', async () => {
  const rows = parseRows(await readDocument('docs/integrations.md'));
  const locks = await Promise.all(
    ['examples/frameworks', 'test/runtimes'].map(
      async (folder) => JSON.parse(await readDocument(`${folder}/package-lock.json`)) as Lockfile,
    ),
  );

  it('lists every example', async () => {
    const files = (await readdir(examples)).filter((name) => name.endsWith('.ts'));
    assert.deepEqual([...new Set(rows.map(({ file }) => file))].sort(), files.sort());
  });

  for (const { file, packages } of rows) {
    it(`has the installed versions for ${file} with ${packages.map(([name]) => name).join(' and ')}`, async () => {
      const count = (await readDocument(`examples/frameworks/${file}`)).trimEnd().split('\n').length;
      assert.ok(count < 50);
      for (const [name, version] of packages) {
        const installed = locks.map((lock) => lock.packages[`node_modules/${name}`]?.version).find(Boolean);
        assert.equal(version, installed, name);
      }
    });
  }
});
