import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { evalArgs, runProgram } from '../support/run-program.ts';
import type { Finished } from '../support/run-program.ts';
import { root, sourceUrl } from '../support/sources.ts';

/** Runs require-node.ts and then a program, in a process that claims to be another version of Node.js. */
function runOn(node: string, sqlite?: string): Promise<Finished> {
  const code = `const { sqlite, ...others } = process.versions;
    Object.defineProperty(process, 'versions', { value: { ...others, ...${JSON.stringify({ node, sqlite })} } });
    Object.defineProperty(process, 'version', { value: 'v${node}' });`;
  const imports = [`data:text/javascript,${encodeURIComponent(code)}`, sourceUrl('cli/require-node.ts')];
  return runProgram(process.execPath, evalArgs('console.log("went on")', [], imports));
}

describe('require-node', () => {
  it('exits with 2 and one sentence on unsupported versions of Node.js', async () => {
    for (const [node, sqlite, found] of [
      ['20.20.2', undefined, 'Node.js 20.20.2'],
      ['22.22.2', '3.51.2', 'SQLite 3.51.2'],
    ] as const) {
      const { code, stdout, stderr } = await runOn(node, sqlite);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /^plant-store needs Node\.js 22\.22\.3 [^\n]*\n$/);
      assert.ok(stderr.includes(found), stderr);
    }
  });

  it('accepts the versions in package.json', async () => {
    const { engines } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { engines: unknown };
    assert.deepEqual(engines, { node: '^22.22.3 || ^24.15.0 || >=26.0.0' });
    assert.deepEqual(await runOn('22.22.3', '3.51.3'), { code: 0, stdout: 'went on\n', stderr: '' });
  });
});
