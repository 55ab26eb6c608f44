import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { it } from 'node:test';
import { readDocument } from '../support/documents.ts';
import { examples } from './program.ts';

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>;
}

it('the table in docs/integrations.md lists every example, with the tested versions', async () => {
  const page = await readDocument('docs/integrations.md');
  const rows = [...page.matchAll(/^\| [^|]*\]\(\.\.\/examples\/frameworks\/([\w.-]+)\) +\| ([^|]*) \|$/gm)];
  const files = (await readdir(examples)).filter((name) => name.endsWith('.ts'));
  assert.deepEqual([...new Set(rows.map(([, file]) => file))].sort(), files.sort());
  const locks = await Promise.all(
    ['examples/frameworks', 'test/frameworks', 'test/runtimes'].map(
      async (folder) => JSON.parse(await readDocument(`${folder}/package-lock.json`)) as Lockfile,
    ),
  );
  const packages = rows.flatMap(([, , cell = '']) => [...cell.matchAll(/`(\S+)` (\d[\w.-]*)/g)]);
  assert.ok(packages.length > 10);
  for (const [, name = '', version] of packages) {
    assert.equal(locks.map((lock) => lock.packages[`node_modules/${name}`]?.version).find(Boolean), version, name);
  }
});
