import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { evalArgs, runProgram } from '../../support/run-program.ts';
import type { Finished } from '../../support/run-program.ts';
import { sourceUrl } from '../../support/sources.ts';

describe('require-node', { concurrency: 4 }, () => {
  const runOn = (node: string, sqlite: string | undefined): Promise<Finished> => {
    const versions = JSON.stringify({ node, sqlite });
    const code = `const { sqlite, ...others } = process.versions;
      Object.defineProperty(process, 'versions', { value: { ...others, ...${versions} } });
      Object.defineProperty(process, 'version', { value: 'v${node}' });`;
    const older = `data:text/javascript,${encodeURIComponent(code)}`;
    return runProgram(
      process.execPath,
      evalArgs('console.log("went on")', [], [older, sourceUrl('tools/cli/require-node.ts')]),
    );
  };

  for (const [node, sqlite] of [
    ['18.20.8', undefined],
    ['20.20.2', undefined],
    ['22.22.2', '3.51.2'],
    ['24.14.1', '3.51.2'],
  ] as const) {
    it(`exits on Node.js ${node} with 1 and one sentence`, async () => {
      const { code, stdout, stderr } = await runOn(node, sqlite);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(
        stderr,
        /^plant-store needs Node\.js 22\.22\.3 or a later 22, [^\n]*: install a newer Node\.js, .*\.\n$/,
      );
      const found = sqlite === undefined ? `this is Node.js ${node}` : `this is Node.js ${node} with SQLite ${sqlite},`;
      assert.ok(stderr.includes(found), stderr);
    });
  }

  for (const [node, sqlite] of [
    ['22.22.3', '3.51.3'],
    ['24.15.0', '3.51.3'],
    ['100.0.0', '3.100.0'],
  ] as const) {
    it(`accepts Node.js ${node}`, async () => {
      assert.deepEqual(await runOn(node, sqlite), { code: 0, stdout: 'went on\n', stderr: '' });
    });
  }

  it('names the versions in package.json', async () => {
    const { engines } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8')) as {
      engines: unknown;
    };
    assert.deepEqual(engines, { node: '^22.22.3 || ^24.15.0 || >=26.0.0' });
    assert.match(
      (await runOn('20.20.2', undefined)).stderr,
      / 22\.22\.3 or a later 22, 24\.15\.0 or a later 24, or 26 or newer,/,
    );
  });
});
