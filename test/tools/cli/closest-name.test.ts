import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closestName } from '../../../src/tools/cli/closest-name.ts';

const names = ['serve', 'token', 'copy', 'export', 'import', 'backup', 'port', 'storage', 'expires-in'];
const texts: Record<string, readonly string[]> = {
  serve: ['serv', 'sevre', 'SERVE'],
  port: ['prot', 'poort', 'porz'],
  backup: ['bakcup'],
  storage: ['stor'],
  'expires-in': ['expires'],
  import: ['improt', 'import'],
  export: ['exports'],
  token: ['tokens'],
};

describe('closestName', () => {
  for (const [name, similar] of Object.entries(texts)) {
    it(`suggests ${name} for ${similar.join(', ')}`, () => {
      for (const text of similar) assert.equal(closestName(text, names), name, text);
    });
  }

  it('suggests nothing if no name is similar', () => {
    for (const text of ['', 's', 'plant', 'bogus', 'constructor', 'expires-in-days', 'x'.repeat(1000)]) {
      assert.equal(closestName(text, names), undefined, text);
    }
  });
});
