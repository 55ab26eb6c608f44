import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closestName } from '../../../src/tools/cli/closest-name.ts';

const names = ['serve', 'token', 'copy', 'export', 'import', 'backup', 'port', 'storage', 'expires-in'];

describe('closestName', () => {
  for (const [text, name] of [
    ['serv', 'serve'],
    ['sevre', 'serve'],
    ['prot', 'port'],
    ['poort', 'port'],
    ['porz', 'port'],
    ['bakcup', 'backup'],
    ['stor', 'storage'],
    ['expires', 'expires-in'],
    ['improt', 'import'],
    ['tokens', 'token'],
    ['SERVE', 'serve'],
  ] as const) {
    it(`suggests ${name} for ${text}`, () => {
      assert.equal(closestName(text, names), name);
    });
  }

  for (const text of ['', 's', 'plant', 'bogus', 'constructor', 'expires-in-days', 'x'.repeat(1000)]) {
    it(`suggests nothing for ${JSON.stringify(text.slice(0, 20))}`, () => {
      assert.equal(closestName(text, names), undefined);
    });
  }

  it('prefers the name that needs the fewest changes', () => {
    assert.equal(closestName('exports', ['imports', 'export']), 'export');
    assert.equal(closestName('import', ['export', 'import']), 'import');
  });
});
