import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readDocument } from '../support/documents.ts';
import { entries } from './entries.ts';

const manifest = JSON.parse(await readDocument('package.json')) as {
  readonly exports: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, object>>;
};

it('package.json has no dependencies except exact devDependencies and two optional peerDependencies', () => {
  const kinds = Object.keys(manifest).filter((key) => /dependencies/i.test(key));
  assert.deepEqual(kinds.sort(), ['devDependencies', 'peerDependencies', 'peerDependenciesMeta']);
  assert.deepEqual(manifest.peerDependencies, { pg: '^8.11', 'swagger-ui-dist': '^5.35.0' });
  assert.deepEqual(manifest.peerDependenciesMeta, { pg: { optional: true }, 'swagger-ui-dist': { optional: true } });
  for (const [name, version] of Object.entries(manifest.devDependencies)) {
    assert.match(version, /^\d+\.\d+\.\d+(?:-[\w.]+)?$/, name);
  }
});

it('package.json exports the public entries', () => {
  const modules = entries.map(({ module }) => `./dist/${module}.js`);
  assert.deepEqual(Object.values(manifest.exports).sort(), ['./package.json', ...modules].sort());
});

it('lockfiles contain no registry URLs', async () => {
  const ofTests = ['bench', 'frameworks', 'mutants', 'package', 'runtimes'].map((name) => `test/${name}`);
  for (const folder of ['.', 'examples/frameworks', ...ofTests]) {
    const path = `${folder}/package-lock.json`;
    assert.doesNotMatch(await readDocument(path), /"resolved"/, path);
  }
});

it('docs/embedding.md lists each function, class and constant that an entry exports', async () => {
  const page = await readDocument('docs/embedding.md');
  for (const { specifier, values } of entries) {
    const row = new RegExp(`^\\| \`${specifier}\` +\\| (.*?) *\\|$`, 'm').exec(page)?.[1] ?? '';
    assert.deepEqual((row.match(/\w+(?=`)/g) ?? []).sort(), values.toSorted(), specifier);
  }
});
